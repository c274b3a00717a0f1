package report

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// revive returns a lost attempt that has come back, and no longer counts it as lost. It returns nil if there
// is none.
func (j *Job) revive(of job.Attempt) *attempt {
	a := j.lost[of]
	if a != nil {
		delete(j.lost, of)
		j.sums.Lost--
		j.sums.wasted = max(j.sums.wasted-a.wasted, 0)
		j.sums.cores[a.part] -= a.held
	}
	return a
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
	a := j.revive(r.Attempt)
	if a == nil {
		return
	}
	for node := range a.nodes() {
		j.nodeUse(node).done++
	}
	j.sums.Done++
	j.sums.cores[partUsed] += a.held
	end := &ending{AttemptEnded: r, Entry: e, attempt: a, task: &j.tasks.table[i], seconds: a.took(e.At, r.Stats)}
	j.attemptDone(end)
	j.passOn(end)
}

// dropLive counts attempts that still ran when the job ended as killed. There are none, unless another version
// of berth wrote the journal.
func (j *Job) dropLive(at job.Time) {
	all := j.allSent()
	for _, a := range all {
		if a.behind != nil {
			j.begin(at, a)
		}
	}
	for _, a := range all {
		delete(j.sent, a.id)
		a.span.end(at, event.Lost, nil)
		j.give(at, a, nil, partKilled)
		for node := range a.nodes() {
			j.nodeUse(node).running--
		}
		j.sums.Killed++
		j.sums.wasted += at.Sub(a.started).Seconds()
		j.tasks.table[a.id.Task].live--
		j.requeue(a.id)
	}
}
