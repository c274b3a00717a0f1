package report

import (
	"maps"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// lost is an attempt that counts as lost, because its worker did not answer. The attempt or its result may
// come back while its task waits.
type lost struct {
	attempt *attempt
	seconds float64 // seconds that were counted as wasted
}

// revive returns a lost attempt that has come back, and no longer counts it as lost. It returns nil if there
// is none.
func (j *Job) revive(k key) *attempt {
	l, ok := j.lost[k]
	if !ok {
		return nil
	}
	delete(j.lost, k)
	j.sums.Lost--
	j.sums.wasted = max(j.sums.wasted-l.seconds, 0)
	j.sums.cores[l.attempt.part] -= l.attempt.held
	return l.attempt
}

// lateResult accepts the result of a lost attempt as long as its task waits, as the engine does. The result of
// a map is not accepted, as its output is on the node that was lost.
func (j *Job) lateResult(e event.Entry, r event.AttemptEnded) {
	i := r.Attempt.Task
	if r.Outcome != event.Done || !j.tasks.has(i) || j.state.Final() {
		return
	}
	heldByNode := j.work.Reduces > 0 && i < j.work.Tasks
	if j.tasks.table[i].pos != posWaiting || heldByNode {
		return
	}
	a := j.revive(keyOf(r.Attempt))
	if a == nil {
		return
	}
	j.nodeUse(a.node).done++
	seconds := a.took(e.At, r.Stats)
	j.sums.cores[partUsed] += a.held
	j.attemptDone(e, r, a, seconds)
	j.passOn(e, r, a, seconds)
}

// dropLive counts attempts that still ran when the job ended as killed. There are none, unless another version
// of berth wrote the journal.
func (j *Job) dropLive(at job.Time) {
	for _, k := range slices.SortedFunc(maps.Keys(j.lined), key.compare) {
		j.begin(at, j.lined[k])
	}
	for _, k := range slices.SortedFunc(maps.Keys(j.live), key.compare) {
		a := j.live[k]
		delete(j.live, k)
		a.span.end(at, event.Lost, nil)
		j.give(at, a, nil, partKilled)
		j.nodeUse(a.node).running--
		j.sums.Killed++
		j.sums.wasted += at.Sub(a.started).Seconds()
		j.tasks.table[k.task].live--
		j.requeue(job.Attempt{Task: int(k.task), N: int(k.n)})
	}
}
