package sim

import (
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/sched"
	"berth/internal/sim/contention"
	"berth/internal/step"
	"berth/internal/workload"
)

// phased is an attempt that runs phase by phase, each as fast as what else runs on its node leaves it. It asks for
// leave for each phase that its leave does not cover. A shuffle fetches map outputs as they come, in pieces.
type phased struct {
	r       *attempt
	phases  []job.Phase
	amounts []workload.Amounts // of each phase
	at      int                // the phase under way, or the next while it waits for leave
	takes   workload.Amounts   // of that phase, with the grant that it has
	leave   job.Phase
	grant   int64 // bytes to sort and merge in; 0: its own share
	mapped  int64 // the grant when its phase map began
	waits   bool  // for leave
	legs    []*leg
	pulls   bool // a piece of the shuffle is on its way to the node
	fetched int  // map outputs of which the shuffle has taken up its part
	memory  int64
	since   job.Time // since when it holds that much memory
	net     float64  // bytes of the present phase that came from other nodes
	disk    float64  // bytes that it read and wrote on its own node
}

// leg is the part of a phase on one node: on its own, or on one that data is read from.
type leg struct {
	contention.Flow
	p    *phased
	host *host
	pull bool // the part of a piece of a shuffle on the attempt's own node
}

// pieces is how many pieces a shuffle has at least.
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
	p.takes = p.work()
	r.phased = p
	k.runs = append(k.runs, r)
	p.begin()
}

// sortMemory returns how many bytes an attempt has to sort and merge in that was granted so many. Where nothing is granted berth's
// worker gives it its own share (worker/supply.go); with the schedulers of others, which have Hadoop's tasks, it is 0: the buffers
// of those.
func (k *worker) sortMemory(grant int64) int64 {
	a := &k.g.site.w.cfg.Adaptor
	switch {
	case a.Fixed:
		return 0
	case grant > 0 || a.Scheduler != sched.Cores && a.Scheduler != sched.Phases:
		return grant
	}
	return k.g.site.w.machine.size.Mem / sortPart * 3 / 4 / int64(k.g.site.w.machine.capacity(k.node).CPUs)
}

func (p *phased) host() *host { return p.r.k.g.site.w.hosts[p.r.k.node] }

// begin enters the phase that is next, which there is leave for.
func (p *phased) begin() {
	w := p.r.k.g.site.w
	p.takes = p.work()
	a := p.takes
	p.r.since, p.net, p.disk = w.now, 0, a.Disk
	p.hold(a.Memory)
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
	p.settle()
}

// hold has the attempt hold so much memory from now on.
func (p *phased) hold(memory int64) {
	w := p.r.k.g.site.w
	w.result.Used.Memory += float64(float64(p.memory) * w.now.Sub(p.since).Seconds())
	p.memory, p.since = memory, w.now
}

// read starts the phase map: a split that the node does not have comes over the network from one that has it.
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

// serve starts the leg of a transfer on the node that data is read from: so many bytes of its disk and of its network,
// in the time that the other end needs at full speed.
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

// done takes in that a leg is done.
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
	p.settle()
}

// settle ends the phase when nothing of it is left.
func (p *phased) settle() {
	if len(p.legs) == 0 && !p.r.over {
		p.end()
	}
}

// pull fetches the next piece of map outputs: those that are there, once they make up a piece or are the last. The
// shuffle ends when all has been fetched, and read from the disks that it was on.
func (p *phased) pull() {
	known, maps := p.r.k.of(p.r.app), len(p.r.app.Maps)
	for !p.pulls && p.fetched < maps {
		piece := max(1, maps/pieces)
		if known.count-p.fetched < piece && known.count < maps {
			return
		}
		p.fetch(known.holders[p.fetched:min(p.fetched+piece, known.count)])
	}
	if p.fetched == maps {
		p.settle()
	}
}

// fetch fetches map outputs from their holders. Those of other nodes all come from one of them, by turns, which
// comes to the same over many pieces.
func (p *phased) fetch(holders []int) {
	w := p.r.k.g.site.w
	share := float64(len(holders)) / float64(len(p.r.app.Maps))
	a := p.takes
	var remote []int
	for _, n := range holders {
		if n != p.r.k.node {
			remote = append(remote, n)
		}
	}
	bytes := a.Net * share
	served := bytes * p.r.app.Phased.Served
	net := bytes * float64(len(remote)) / float64(len(holders))
	local := served * float64(len(holders)-len(remote)) / float64(len(holders))
	piece := workload.Amounts{CPU: a.CPU * share, Disk: a.Disk*share + local, Net: net, Cores: a.Cores, Least: a.Least * share}
	p.fetched += len(holders)
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

// end ends the phase and goes on to the next, asks for it, or ends the attempt.
func (p *phased) end() {
	r, a := p.r, p.takes
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
		r.k.say(step.CommitWanted{Attempt: r.id})
	case p.at == len(p.phases):
		r.k.end(r, event.AttemptEnded{Outcome: event.Done})
	case p.phases[p.at] <= p.leave || p.single():
		p.begin()
	default:
		p.waits = true
		r.k.say(step.LeaveWanted{Attempt: r.id, Phase: p.phases[p.at]})
	}
}

// work returns what the present phase takes with the grant that there is.
func (p *phased) work() workload.Amounts {
	return p.r.app.Phased.Granted(p.r.id.Task, p.phases[p.at], p.amounts[p.at], p.grant, p.mapped)
}

// single reports whether the next phase is the merge of a map that has spilled once: nothing is to be merged, and it does not
// ask for leave.
func (p *phased) single() bool {
	return p.phases[p.at] == job.PhaseMerge && p.work().Full() == 0
}

// granted takes in leave up to a phase, and how much memory there is to sort and merge in.
func (p *phased) granted(leave job.Phase, grant int64) {
	if leave > p.leave {
		p.leave, p.grant = leave, p.r.k.sortMemory(grant)
	}
	if p.waits && p.phases[p.at] <= p.leave {
		p.waits = false
		p.begin()
	}
}

// stop takes all that the attempt has on nodes from them.
func (p *phased) stop() {
	p.hold(0)
	for _, l := range p.legs {
		used := &p.r.app.out.Used // what was not used after all
		l.host.remove(&l.Flow)
		used.CPU -= float64(l.Demand[contention.CPU] * l.Left)
		used.Disk -= float64(l.Demand[contention.Disk] * l.Left)
		used.Net -= float64(l.Demand[contention.In] * l.Left)
	}
	p.legs = nil
}
