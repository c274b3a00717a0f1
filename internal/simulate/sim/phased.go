package sim

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/simulate/contention"
	"berth/internal/simulate/workload"
)

// phased is the state of an attempt whose phases contend for its node. The attempt asks for a grant
// before each phase that its present grant does not cover. A shuffle fetches map outputs in pieces,
// as they become available.
type phased struct {
	r       *attempt
	phases  []job.Phase
	amounts []workload.Amounts // the demands of each phase
	at      int                // the present phase, or the next one while the attempt waits for a grant
	demand  workload.Amounts   // the demand of that phase with the granted memory
	leave   job.Phase
	grant   int64 // granted bytes for sorting and merging; 0: the node's default share
	mapped  int64 // the grant when the phase map began
	waits   bool  // it waits for a grant
	legs    []*leg
	pulls   bool // a piece of the shuffle is being fetched
	fetched int  // number of map outputs fetched
	memory  int64
	since   job.Time // when the attempt's memory last changed
	net     float64  // bytes of the present phase that came from other nodes
	disk    float64  // bytes that the phase read and wrote on the attempt's node
}

// leg is the part of a phase on one node: the attempt's own node, or a node from which it reads.
type leg struct {
	contention.Flow
	p    *phased
	host *host
	pull bool // the part of a piece of the shuffle on the attempt's own node
}

// pieces is the smallest number of pieces of a shuffle.
const pieces = 8

func (k *worker) startPhased(r *attempt, leave job.Phase, grant int64) {
	f, task := r.app.Phased, r.id.Task
	grant = k.sortMemory(grant)
	p := &phased{r: r, phases: r.kind.Phases(), leave: leave, grant: grant, mapped: grant}
	if r.kind == job.MapTask {
		p.amounts = f.Maps[task][:]
	} else {
		p.amounts = f.Reduces[task-len(f.Maps)][:]
	}
	p.demand = p.work()
	r.phased = p
	k.runs = append(k.runs, r)
	p.begin()
}

// sortMemory returns the bytes that an attempt has for sorting and merging. Without a grant, berth's
// worker gives an attempt its share of the node (worker/supply.go). 0 stands for Hadoop's buffers.
func (k *worker) sortMemory(grant int64) int64 {
	a := &k.g.site.w.cfg.Adaptor
	switch {
	case a.Fixed:
		return 0
	case grant > 0:
		return grant
	}
	return k.g.site.w.machine.size.Mem / sortPart * 3 / 4 / int64(k.g.site.w.machine.capacity(k.node).CPUs)
}

func (p *phased) host() *host { return p.r.k.g.site.w.hosts[p.r.k.node] }

// begin enters the next phase, for which the attempt has a grant.
func (p *phased) begin() {
	w := p.r.k.g.site.w
	p.demand = p.work()
	a := p.demand
	p.r.since, p.net, p.disk = w.now, 0, a.Disk
	p.setMemory(a.Memory)
	p.r.k.enter(p.r, p.phases[p.at])
	switch p.phases[p.at] {
	case job.PhaseShuffle:
		p.pull()
		return
	case job.PhaseMap:
		p.read(a)
	default:
		p.run(p.host(), a, false)
	}
	p.endIfDone()
}

// setMemory sets the memory that the attempt uses from now on.
func (p *phased) setMemory(memory int64) {
	w := p.r.k.g.site.w
	w.result.Used.Memory += float64(float64(p.memory) * w.now.Sub(p.since).Seconds())
	p.memory, p.since = memory, w.now
}

// read starts the phase map. If the split is on other nodes, it is read from one of them over the
// network.
func (p *phased) read(a workload.Amounts) {
	f, task, w := p.r.app.Phased, p.r.id.Task, p.r.k.g.site.w
	p.r.app.out.Maps++
	homes := f.Homes[task]
	for _, n := range homes {
		if n == p.r.k.node {
			p.r.app.out.Local++
			p.run(p.host(), a, false)
			return
		}
	}
	split := f.Splits[task]
	full := a.Full()
	a.Disk -= split
	a.Net = split
	p.net, p.disk = split, a.Disk
	p.run(p.host(), a, false)
	p.serve(w.hosts[homes[(task+p.r.id.N)%len(homes)]], split, split, full)
}

// run starts the leg of a phase on the attempt's own node.
func (p *phased) run(h *host, a workload.Amounts, pull bool) {
	full := a.Full()
	if full <= 0 {
		return
	}
	p.leg(h, &leg{pull: pull, Flow: contention.Flow{Limit: h.limit(a), Left: full, Demand: contention.Rates{
		contention.CPU: a.CPU / full, contention.Disk: a.Disk / full, contention.In: a.Net / full}}})
}

// serve starts the leg of a transfer on the node from which data is read: disk and net in bytes, and
// full in seconds, the time that the receiving end needs at full speed.
func (p *phased) serve(h *host, disk, net, full float64) {
	full = max(full, net/workload.FullNet)
	if full <= 0 {
		return
	}
	p.leg(h, &leg{Flow: contention.Flow{Limit: 1, Left: full, Demand: contention.Rates{contention.Disk: disk / full, contention.Out: net / full}}})
}

func (p *phased) leg(h *host, l *leg) {
	l.p, l.host, l.Owner = p, h, l
	p.legs = append(p.legs, l)
	used := &p.r.app.out.Used
	used.CPU += float64(l.Demand[contention.CPU] * l.Left)
	used.Disk += float64(l.Demand[contention.Disk] * l.Left)
	used.Net += float64(l.Demand[contention.In] * l.Left)
	h.add(&l.Flow)
}

// done removes a leg that has ended.
func (l *leg) done() {
	p := l.p
	for i, q := range p.legs {
		if q == l {
			p.legs = append(p.legs[:i], p.legs[i+1:]...)
			break
		}
	}
	if p.phases[p.at] == job.PhaseShuffle {
		p.pulls = p.pulls && !l.pull
		p.pull()
		return
	}
	p.endIfDone()
}

// endIfDone ends the phase if it has no leg left.
func (p *phased) endIfDone() {
	if len(p.legs) == 0 && !p.r.over {
		p.end()
	}
}

// pull fetches the next piece of map outputs, once the available outputs make up a piece or include
// the last output. The shuffle ends when all outputs have been fetched and read from their disks.
func (p *phased) pull() {
	known, maps := p.r.k.outputsOf(p.r.app), len(p.r.app.Maps)
	for !p.pulls && p.fetched < maps {
		piece := max(1, maps/pieces)
		if known.count-p.fetched < piece && known.count < maps {
			return
		}
		p.fetch(known.nodes[p.fetched:min(p.fetched+piece, known.count)])
	}
	if p.fetched == maps {
		p.endIfDone()
	}
}

// fetch fetches map outputs from the nodes that have them. All remote outputs of a piece come from
// one of these nodes, in turn. Over many pieces the load is the same as if each output came from its
// own node.
func (p *phased) fetch(nodes []int) {
	w := p.r.k.g.site.w
	share := float64(len(nodes)) / float64(len(p.r.app.Maps))
	a := p.demand
	var remote []int
	for _, n := range nodes {
		if n != p.r.k.node {
			remote = append(remote, n)
		}
	}
	bytes := a.Net * share
	served := bytes * p.r.app.Phased.Served
	net := bytes * float64(len(remote)) / float64(len(nodes))
	local := served * float64(len(nodes)-len(remote)) / float64(len(nodes))
	piece := workload.Amounts{CPU: a.CPU * share, Disk: a.Disk*share + local, Net: net, Cores: a.Cores, Least: a.Least * share}
	p.fetched += len(nodes)
	p.net += net
	p.disk += local
	before := len(p.legs)
	p.run(p.host(), piece, true)
	p.pulls = len(p.legs) > before
	if len(remote) > 0 {
		from := remote[(p.r.id.Task+p.fetched)%len(remote)]
		p.serve(w.hosts[from], served-local, net, piece.Full())
	}
}

// end ends the phase. The attempt then begins the next phase, asks for a grant, or ends.
func (p *phased) end() {
	r, a := p.r, p.demand
	now := r.k.g.site.w.now
	if r.stats == nil {
		r.stats = make([]job.PhaseStat, 0, 3)
	}
	r.stats = append(r.stats, job.PhaseStat{Phase: p.phases[p.at], Start: r.since, End: now,
		CPU: roundMilli(a.CPU / p.host().hardware.Speed * 1e9), PeakMemory: a.Memory, DiskBytes: int64(p.disk), NetBytes: int64(p.net)})
	if r.fails && p.at == len(p.phases)/2 {
		r.k.end(r, event.AttemptEnded{Outcome: event.Failed, Exit: 1, Reason: "exit status 1"})
		return
	}
	p.at++
	switch {
	case p.at == len(p.phases) && r.kind == job.ReduceTask:
		p.at--
		r.step = committing
		r.k.send(step.CommitWanted{Attempt: r.id})
	case p.at == len(p.phases):
		r.k.end(r, event.AttemptEnded{Outcome: event.Done})
	case p.phases[p.at] <= p.leave || p.single():
		p.begin()
	default:
		p.waits = true
		r.k.send(step.GrantWanted{Attempt: r.id, Phase: p.phases[p.at]})
	}
}

// work returns the demand of the present phase with the present grant.
func (p *phased) work() workload.Amounts {
	return p.r.app.Phased.Granted(p.r.id.Task, p.phases[p.at], p.amounts[p.at], p.grant, p.mapped)
}

// single reports whether the next phase is the merge of a map that spilled once. Then nothing is
// merged, and the map needs no grant.
func (p *phased) single() bool {
	return p.phases[p.at] == job.PhaseMerge && p.work().Full() == 0
}

// granted records a grant up to a phase, with the memory for sorting and merging.
func (p *phased) granted(leave job.Phase, grant int64) {
	if leave > p.leave {
		p.leave, p.grant = leave, p.r.k.sortMemory(grant)
	}
	if p.waits && p.phases[p.at] <= p.leave {
		p.waits = false
		p.begin()
	}
}

// stop removes the attempt's load from all nodes.
func (p *phased) stop() {
	p.setMemory(0)
	for _, l := range p.legs {
		used := &p.r.app.out.Used // the part that was booked but not used
		l.host.remove(&l.Flow)
		used.CPU -= float64(l.Demand[contention.CPU] * l.Left)
		used.Disk -= float64(l.Demand[contention.Disk] * l.Left)
		used.Net -= float64(l.Demand[contention.In] * l.Left)
	}
	p.legs = nil
}
