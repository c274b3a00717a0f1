package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// steadyEnds is the number of ends for each slot from which on the rate of ends is used
// instead of the mean duration.
const steadyEnds = 8

// estimate computes the progress of a phase and its remaining time.
type estimate struct {
	job   *Job
	group *group
	pos   int
	phase *phaseSum
	live  []*attempt // in this phase, in the order of their keys
	ahead []*attempt // those that have not reached it
	now   job.Time
	nodes []job.Time // when those come that the job is about to get
}

// maxLate is how much later than expected an allocation may begin, or its nodes may come up, and still count for the
// expected end of its job.
const maxLate = time.Minute

// coming returns when nodes of the allocations that were requested for the job are expected to come up, the earliest first, without those that are
// overdue, or of which that is unknown.
func (j *Job) coming(now job.Time) (all []job.Time) {
	n := j.info.Nodes
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, a := range n.allocs {
		at := a.Began
		if a.State == AllocWaiting {
			at = a.Start
		}
		if a.job == j.info.ID && a.State != AllocOver && !at.IsZero() && now.Std().Sub(at) <= maxLate {
			all = append(all, slices.Repeat([]job.Time{job.TimeOf(at)}, max(0, a.Nodes-a.Up))...)
		}
	}
	slices.Sort(all)
	return all
}

// done returns the number of tasks that have finished the phase.
func (e *estimate) done() int { return sum(e.group.at[e.pos+1 : posFailed]) }

// left returns the number of tasks that have not entered the phase yet.
func (e *estimate) left() int { return sum(e.group.at[:e.pos]) }

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// progress returns the fraction of the phase that is done, over all tasks.
func (e *estimate) progress() float64 {
	if e.group.total == 0 {
		return 1
	}
	sum := float64(e.done())
	for _, a := range e.live {
		sum += max(e.part(a), 0)
	}
	return round(min(sum/float64(e.group.total), 1))
}

// rate returns bytes read per second by all attempts together in the present run,
// from the first start to the last end, or to now while attempts run.
func (e *estimate) rate() float64 {
	bytes, until := e.phase.runBytes, e.phase.last
	for _, a := range e.live {
		bytes += a.bytesIn
		until = e.now
	}
	took := until.Sub(e.phase.runFirst).Seconds()
	if e.phase.runFirst == 0 || took <= 0 {
		return 0
	}
	return round(float64(bytes) / took)
}

// rateTasks returns the number of tasks that finished the phase in each second of the present run, from its
// first start to its last end.
func (e *estimate) rateTasks() float64 {
	took := e.phase.runLast.Sub(e.phase.runFirst).Seconds()
	if e.phase.runFirst == 0 || e.phase.runDone == 0 || took <= 0 {
		return 0
	}
	return round(float64(e.phase.runDone) / took)
}

// kindLeft is the tasks of a phase with the same needs.
type kindLeft struct {
	need  job.Resources
	left  int            // that have not entered the phase
	limit float64        // seconds that an attempt may take; +Inf: it is not limited, or the limit grows
	took  predict.Sketch // the seconds of attempts that are done, and as expected of those that run
}

// kinds returns the tasks by their needs. Phases other than the whole task of a bag need a core each.
func (e *estimate) kinds() []kindLeft {
	w, took := &e.job.work, e.job.tasks.took
	all := []kindLeft{{left: e.left()}}
	if n := w.NeedsCount(); e.whole() && n > 1 {
		all = make([]kindLeft, n)
		for i, t := range e.job.tasks.table {
			if t.pos == posWaiting {
				all[e.job.needsIndex(i)].left++
			}
		}
	}
	for i := range all {
		k, n := &all[i], w.NeedsAt(i)
		if k.need, k.limit = n.Resources(), math.Inf(1); len(all) == 1 {
			k.need = job.Resources{CPUs: 1}
		}
		if e.whole() && n.TimeLimit > 0 && n.MaxTimeLimit == 0 {
			k.limit = n.TimeLimit.Seconds()
		}
		if len(all) > 1 && i < len(took) {
			k.took.Merge(&took[i])
		}
		if k.took.Count == 0 {
			k.took.Merge(&e.phase.Time)
		}
		for _, a := range e.live {
			if part := e.part(a); part > 0 && e.phase.Time.Count == 0 {
				k.took.Add(e.age(a) / part)
			}
		}
	}
	return all
}

// eta returns the seconds until no task has the phase before it, and how many running attempts are expected to reach their time limit. What is left
// is placed on the slots that are in use now, once they are free, and on those of nodes that the job is about to get, as plans do it. With many ends
// so far, durations are scaled to the rate of ends, which holds what tasks cost beside their own time. The end is unknown while no task has ended the
// phase or said how far it is, and where none runs and none has ended for longer than all that are left would take.
func (e *estimate) eta() (seconds float64, atLimit int, known bool) {
	on, p, each := e.live, e.phase, 0.0
	if len(on) == 0 {
		on = e.ahead // they have just started, or nobody heard yet that they came to a short phase
	}
	if p.paceDone >= steadyEnds*max(len(on), 1) {
		each = p.runLast.Sub(p.paceFrom).Seconds() / float64(p.paceDone)
	}
	all := e.kinds()
	switch {
	case e.left() == 0 && len(e.live) == 0:
		return 0, 0, true
	case len(on) == 0:
		seconds = round(float64(e.left())*each - e.now.Sub(p.runLast).Seconds())
		return seconds, 0, seconds > 0
	case p.runFirst == 0 || all[0].took.Sum == 0:
		return 0, 0, false
	}
	free := make([]float64, len(on)) // when the slots are
	for i, a := range e.live {
		k := &all[e.kind(a, all)]
		may := max(0, k.limit-e.now.Sub(a.started).Seconds())
		if free[i] = e.rest(a, &k.took, i); free[i] > may {
			free[i] = may
			atLimit++
		}
		k.took.Add(e.age(a) + free[i])
	}
	scale := 1.0
	if each > 0 && len(all) == 1 {
		scale = each * float64(len(on)) / all[0].took.Mean()
	}
	cores := e.place(all, on, free, scale, func(r job.Resources) int { return r.CPUs })
	seconds = round(max(cores, e.place(all, on, free, scale, func(r job.Resources) int { return r.GPUs })))
	return seconds, atLimit, seconds > 0 || e.left() == 0
}

// kind returns the index of the needs of an attempt's task.
func (e *estimate) kind(a *attempt, all []kindLeft) int {
	return min(e.job.needsIndex(a.id.Task), len(all)-1)
}

// maxPlaced is the number of durations of what is left that differ.
const maxPlaced = 1 << 8

// place returns when all is done for cores or GPUs, of which a task is in as many parts as it needs of them. on are the attempts whose slots are
// free then.
func (e *estimate) place(all []kindLeft, on []*attempt, free []float64, scale float64, of func(job.Resources) int) (seconds float64) {
	var load predict.Load
	for _, k := range all {
		load.Maps += k.left * of(k.need)
	}
	if seconds = max(0, slices.Max(free)); load.Maps == 0 {
		return seconds
	}
	var takes []float64
	for i := range all {
		k := &all[i]
		n := k.left * of(k.need)
		for n, part := min(n, 1+n*maxPlaced/load.Maps), 0; part < n; part++ {
			takes = append(takes, min(k.limit, scale*k.took.Quantile((float64(part)+0.5)/float64(n))))
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(takes), func(i, j int) { takes[i], takes[j] = takes[j], takes[i] }) //nolint:gosec // a simulation, not a secret
	var windows []predict.Window
	used, nodes := 0, map[job.NodeID]bool{}
	add := func(start float64, slots int) {
		windows, used = append(windows, predict.Window{Start: start, End: math.Inf(1), TaskSlots: slots}), used+slots
	}
	for i, a := range on {
		nodes[a.node] = true
		add(free[i], of(all[e.kind(a, all)].need))
	}
	each, most := used/max(1, len(nodes)), cmp.Or(e.job.work.Throttle, math.MaxInt)
	for _, at := range e.nodes {
		add(max(0, at.Sub(e.now).Seconds()), min(each, max(0, most-used)))
	}
	if used == 0 {
		return seconds
	}
	trial := predict.GivenTrials(load, predict.Expected{}, predict.Trial{Maps: predict.NewSeries(takes)})
	return max(seconds, trial.MeanEach(1, func(int) []predict.Window { return windows }))
}

// age returns for how many seconds an attempt has been in the phase.
func (e *estimate) age(a *attempt) float64 { return max(e.now.Sub(a.entered[e.pos-1]).Seconds(), 0) }

// rest returns the remaining seconds of the attempt's phase without a time limit: as who compares it with others says, from its own progress if
// that is known, and else from how long others took.
func (e *estimate) rest(a *attempt, took *predict.Sketch, i int) float64 {
	if e.whole() && a.ends != 0 {
		return max(a.ends.Sub(e.now).Seconds(), 0)
	}
	if part := e.part(a); part > 0 {
		return e.age(a) * (1 - part) / part
	}
	_, spread := math.Modf(float64(i+1) * math.Phi)
	return took.Rest(e.age(a), spread)
}

// whole reports whether the phase is nearly the whole task, as the phase compute of a bag is.
func (e *estimate) whole() bool { return e.phase.phase == job.PhaseCompute }

// part returns the fraction of its phase that the attempt has done, 0…1, or −1 if it is unknown.
func (e *estimate) part(a *attempt) float64 {
	if a.fraction < 0 && e.whole() {
		if p, known := e.group.measured(a); known {
			return p
		}
	}
	return a.fraction
}
