package report

import (
	"math"
	"slices"

	"berth/internal/core/job"
)

// steadyEnds is the number of ends for each slot from which on the rate of ends is used
// instead of the mean duration. The edge of a wave of tasks then changes the rate by at
// most an eighth.
const steadyEnds = 8

// estimate computes the progress of a phase and its remaining time.
type estimate struct {
	group *group
	pos   int
	phase *phaseSum
	live  []*attempt // in this phase, in the order of their keys
	ahead int        // running attempts that have not reached the phase
	now   job.Time

	gains    []gain
	throttle int                // largest number of running tasks; 0: no limit
	of       []needsLeft        // by the needs of tasks; one where all have the same
	needs    func(task int) int // the index of those of a task
	limits   []float64          // of tasks in seconds, by needs: 0: there is none, or it grows; nil: no task has one
}

// done returns the number of tasks that have finished the phase.
func (e *estimate) done() int {
	n := 0
	for i := e.pos + 1; i <= int(posDone); i++ {
		n += e.group.at[i]
	}
	return n
}

// left returns the number of tasks that have not entered the phase yet.
func (e *estimate) left() int {
	n := 0
	for i := range e.pos {
		n += e.group.at[i]
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

// eta returns the seconds until no task has the phase before it. With few ends so far
// it goes by waves: what is left, at the mean duration, over the slots now in use
// (the lower bound of models.md, "Completion time"). With many it goes by the rate of ends,
// which holds what tasks cost beside their own time. Nodes that the job is about to get count
// as well. Where tasks need different resources, it counts by these (byNeeds). It is unknown while no task has ended the phase or said how far it is,
// and where none runs and none has ended for longer than all that are left would take. It is at most what time limits allow: those of the
// tasks that run, and then of as many waves as are left.
func (e *estimate) eta() (seconds float64, known bool) {
	seconds, known = e.unlimited()
	if !known || len(e.live) == 0 || e.limits == nil || slices.Contains(e.limits, 0) {
		return seconds, known
	}
	most := 0.0
	for _, a := range e.live {
		most = max(most, e.allowed(a))
	}
	waves := (e.left() + len(e.live) - 1) / len(e.live)
	return round(min(seconds, most+float64(waves)*slices.Max(e.limits))), true
}

// allowed returns for how many seconds the time limit lets an attempt go on; +Inf: there is none.
func (e *estimate) allowed(a *attempt) float64 {
	if e.limits == nil || e.limits[e.needs(a.id.Task)] == 0 {
		return math.Inf(1)
	}
	return max(e.limits[e.needs(a.id.Task)]-e.now.Sub(a.started).Seconds(), 0)
}

// reach returns how many running attempts are expected to reach their time limit.
func (e *estimate) reach() (n int) {
	for _, a := range e.live {
		if e.goesOn(a, e.phase.Time.Mean()) > e.allowed(a) {
			n++
		}
	}
	return n
}

func (e *estimate) unlimited() (seconds float64, known bool) {
	left, slots := e.left(), len(e.live)
	if left == 0 && slots == 0 {
		return 0, true
	}
	if e.phase.runFirst == 0 {
		return 0, false
	}
	// Short phases may end before their start is reported. Then no attempt seems to run, and only the rate is
	// known.
	if n := e.phase.runDone; n >= steadyEnds*max(slots, 1) && left > 0 && (len(e.of) == 1 || slots == 0) {
		each := e.phase.runLast.Sub(e.phase.runFirst).Seconds() / float64(n)
		if rest := float64(left+slots)*each - e.now.Sub(e.phase.runLast).Seconds(); rest > 0 { // else tasks do not end at that rate any more
			return round(e.sooner(rest, e.phase.Time.Mean())), true
		}
	}
	if slots == 0 && e.ahead == 0 {
		return 0, false
	}
	mean := e.phase.Time.Mean()
	if mean == 0 {
		if mean = e.extrapolate(); mean == 0 {
			return 0, false
		}
	}
	if slots == 0 { // the running attempts have just started
		return round(float64(left) * mean / float64(e.ahead)), true
	}
	return round(e.byNeeds(mean)), true
}

// rest returns the remaining seconds of the attempt's phase.
func (e *estimate) rest(a *attempt, mean float64) float64 {
	return min(e.goesOn(a, mean), e.allowed(a))
}

// goesOn returns the same without a time limit, from the attempt's own progress if that is known, and else from the mean.
func (e *estimate) goesOn(a *attempt, mean float64) float64 {
	age := max(e.now.Sub(a.entered[e.pos-1]).Seconds(), 0)
	if e.whole() && a.ends != 0 {
		return max(a.ends.Sub(e.now).Seconds(), 0)
	}
	if part := e.part(a); part > 0 {
		return age * (1 - part) / part
	}
	return max(mean-age, 0)
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

// extrapolate returns the mean duration that follows from the progress of the running attempts, or 0 if there
// is no progress.
func (e *estimate) extrapolate() float64 {
	sum, n := 0.0, 0
	for _, a := range e.live {
		if part := e.part(a); part > 0 {
			sum += e.now.Sub(a.entered[e.pos-1]).Seconds() / part
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
