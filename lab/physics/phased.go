package physics

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/simulate/sim"
	"berth/lab/contention"
	"berth/lab/loads"
)

// phased is the course of an attempt whose phases contend for its node. The attempt asks for a grant
// before each phase that its present grant does not cover. A shuffle fetches map outputs in pieces,
// as they become available.
type phased struct {
	*sim.Attempt
	of      *Phases
	f       *loads.Phased
	phases  []job.Phase
	amounts []loads.Amounts // the demands of each phase
	at      int             // the present phase, or the next one while the attempt waits for a grant
	demand  loads.Amounts   // the demand of that phase with the granted memory
	leave   job.Phase
	grant   int64 // granted bytes for sorting and merging; 0: the node's default share
	mapped  int64 // the grant when the phase map began
	waits   bool  // it waits for a grant
	legs    []*leg
	pulls   bool // a piece of the shuffle is being fetched
	fetched int  // number of map outputs fetched
	memory  int64
	since   job.Time // when the present phase began
	held    job.Time // when the attempt's memory last changed
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

// Course implements sim.Physics.
func (p *Phases) Course(r *sim.Attempt, leave job.Phase, grant int64) sim.Course {
	f, task := p.Jobs[r.Job()].Phased, r.ID.Task
	grant = p.sortMemory(r.Worker.Node, grant)
	c := &phased{Attempt: r, of: p, f: f, phases: r.Kind.Phases(), leave: leave, grant: grant, mapped: grant}
	if r.Kind == job.MapTask {
		c.amounts = f.Maps[task][:]
	} else {
		c.amounts = f.Reduces[task-len(f.Maps)][:]
	}
	return c
}

// Start implements sim.Course.
func (p *phased) Start() { p.begin() }

// sortMemory returns the bytes that an attempt has for sorting and merging. Without a grant, berth's
// worker gives an attempt its share of the node (worker/supply.go). 0 stands for Hadoop's buffers.
func (p *Phases) sortMemory(node int, grant int64) int64 {
	switch {
	case p.Fixed:
		return 0
	case grant > 0:
		return grant
	}
	return p.memory / sortPart * 3 / 4 / int64(p.Hardware[node].Capacity.CPUs)
}

func (p *phased) host() *host { return p.of.hosts[p.Worker.Node] }

// use returns what the attempt's job uses.
func (p *phased) use() *JobUse { return &p.of.Of[p.Job()] }

// begin enters the next phase, for which the attempt has a grant.
func (p *phased) begin() {
	p.demand = p.work()
	a := p.demand
	p.since, p.net, p.disk = p.of.w.Now(), 0, a.Disk
	p.setMemory(a.Memory)
	p.Enter(p.phases[p.at])
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
	now := p.of.w.Now()
	p.of.Used.Memory += float64(float64(p.memory) * now.Sub(p.held).Seconds())
	p.memory, p.held = memory, now
}

// read starts the phase map. If the split is on other nodes, it is read from one of them over the
// network.
func (p *phased) read(a loads.Amounts) {
	task := p.ID.Task
	p.use().Maps++
	homes := p.f.Homes[task]
	if slices.Contains(homes, p.Worker.Node) {
		p.use().Local++
		p.run(p.host(), a, false)
		return
	}
	split := p.f.Splits[task]
	full := a.Full()
	a.Disk -= split
	a.Net = split
	p.net, p.disk = split, a.Disk
	p.run(p.host(), a, false)
	p.serve(p.of.hosts[homes[(task+p.ID.N)%len(homes)]], split, split, full)
}

// run starts the leg of a phase on the attempt's own node.
func (p *phased) run(h *host, a loads.Amounts, pull bool) {
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
	full = max(full, net/loads.FullNet)
	if full <= 0 {
		return
	}
	p.leg(h, &leg{Flow: contention.Flow{Limit: 1, Left: full, Demand: contention.Rates{contention.Disk: disk / full, contention.Out: net / full}}})
}

func (p *phased) leg(h *host, l *leg) {
	l.p, l.host, l.Owner = p, h, l
	p.legs = append(p.legs, l)
	used := p.use()
	used.CPU += float64(l.Demand[contention.CPU] * l.Left)
	used.Disk += float64(l.Demand[contention.Disk] * l.Left)
	used.Net += float64(l.Demand[contention.In] * l.Left)
	h.add(&l.Flow)
}

// done removes a leg that has ended.
func (l *leg) done() {
	p := l.p
	p.legs = slices.DeleteFunc(p.legs, func(q *leg) bool { return q == l })
	if p.phases[p.at] == job.PhaseShuffle {
		p.pulls = p.pulls && !l.pull
		p.pull()
		return
	}
	p.endIfDone()
}

// endIfDone ends the phase if it has no leg left.
func (p *phased) endIfDone() {
	if len(p.legs) == 0 && !p.Over() {
		p.end()
	}
}

// pull fetches the next piece of map outputs, once the available outputs make up a piece or include
// the last output. The shuffle ends when all outputs have been fetched and read from their disks.
func (p *phased) pull() {
	known, maps := p.Outputs(), len(p.f.Maps)
	for !p.pulls && p.fetched < maps {
		piece := max(1, maps/pieces)
		if len(known)-p.fetched < piece && len(known) < maps {
			return
		}
		p.fetch(known[p.fetched:min(p.fetched+piece, len(known))])
	}
	if p.fetched == maps {
		p.endIfDone()
	}
}

// fetch fetches map outputs from the nodes that have them. All remote outputs of a piece come from
// one of these nodes, in turn. Over many pieces the load is the same as if each output came from its
// own node.
func (p *phased) fetch(nodes []int32) {
	share := float64(len(nodes)) / float64(len(p.f.Maps))
	a := p.demand
	var remote []int32
	for _, n := range nodes {
		if int(n) != p.Worker.Node {
			remote = append(remote, n)
		}
	}
	bytes := a.Net * share
	served := bytes * p.f.Served
	net := bytes * float64(len(remote)) / float64(len(nodes))
	local := served * float64(len(nodes)-len(remote)) / float64(len(nodes))
	piece := loads.Amounts{CPU: a.CPU * share, Disk: a.Disk*share + local, Net: net, Cores: a.Cores, Least: a.Least * share}
	p.fetched += len(nodes)
	p.net += net
	p.disk += local
	before := len(p.legs)
	p.run(p.host(), piece, true)
	p.pulls = len(p.legs) > before
	if len(remote) > 0 {
		from := remote[(p.ID.Task+p.fetched)%len(remote)]
		p.serve(p.of.hosts[from], served-local, net, piece.Full())
	}
}

// end ends the phase. The attempt then begins the next phase, asks for a grant, or ends.
func (p *phased) end() {
	a := p.demand
	cpu := time.Duration(math.Round(a.CPU/p.host().hardware.Speed*1e9/float64(time.Millisecond))) * time.Millisecond
	p.Measured(job.PhaseStat{Phase: p.phases[p.at], Start: p.since, End: p.of.w.Now(), CPU: cpu, PeakMemory: a.Memory, DiskBytes: int64(p.disk), NetBytes: int64(p.net)})
	if p.Fails && p.at == len(p.phases)/2 {
		p.Fail()
		return
	}
	p.at++
	switch {
	case p.at == len(p.phases):
		p.at--
		p.Done()
	case p.phases[p.at] <= p.leave || p.single():
		p.begin()
	default:
		p.waits = true
		p.Want(p.phases[p.at])
	}
}

// work returns the demand of the present phase with the present grant.
func (p *phased) work() loads.Amounts {
	return p.f.Granted(p.ID.Task, p.phases[p.at], p.amounts[p.at], p.grant, p.mapped)
}

// single reports whether the next phase is the merge of a map that spilled once. Then nothing is
// merged, and the map needs no grant.
func (p *phased) single() bool {
	return p.phases[p.at] == job.PhaseMerge && p.work().Full() == 0
}

// Grant implements sim.Course. It records a grant up to a phase, with the memory for sorting and merging.
func (p *phased) Grant(leave job.Phase, grant int64) {
	if leave > p.leave {
		p.leave, p.grant = leave, p.of.sortMemory(p.Worker.Node, grant)
	}
	if p.waits && p.phases[p.at] <= p.leave {
		p.waits = false
		p.begin()
	}
}

// Located implements sim.Course.
func (p *phased) Located() {
	if p.phases[p.at] == job.PhaseShuffle {
		p.pull()
	}
}

// Stop implements sim.Course. It removes the attempt's load from all nodes.
func (p *phased) Stop(event.Outcome) {
	p.setMemory(0)
	for _, l := range p.legs {
		used := p.use() // the part that was booked but not used
		l.host.remove(&l.Flow)
		used.CPU -= float64(l.Demand[contention.CPU] * l.Left)
		used.Disk -= float64(l.Demand[contention.Disk] * l.Left)
		used.Net -= float64(l.Demand[contention.In] * l.Left)
	}
	p.legs = nil
}
