package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

const (
	// quick is the run time below which an attempt that asks for another one has not worked.
	quick = time.Second
	// maxQuick is how many such attempts a task may have in a row. Each further one counts as failed.
	maxQuick = 9
)

// requeued turns the end of an attempt that asks for another one into a failure if the task asks again and again without working.
func (e *Engine) requeued(a *attempt, r event.AttemptEnded) event.AttemptEnded {
	if n := int(a.job.tasks[a.ID.Task].quick); n >= maxQuick && a.duration(e.now, r.Stats) < quick {
		r.Outcome = event.Failed
		r.Reason = fmt.Sprintf("it ended with the exit status %d of --requeue-exit within %v of its start, as %d attempts before it did", r.Exit, quick, n)
	}
	return r
}

// applyRequeued applies that the task of an attempt is to start again, with the work of the attempt kept.
func (j *jobState) applyRequeued(at job.Time, a *attempt, stats []job.PhaseStat) {
	t, took := &j.tasks[a.ID.Task], a.duration(at, stats)
	if took < quick {
		t.quick++
		return
	}
	t.quick = 0
	if j.kept == nil {
		j.kept = make(map[int32]time.Duration)
	}
	j.kept[int32(a.ID.Task)] += took
	if left := a.wallEnd().Sub(at); a.wallEnd() != 0 && left < took/2 {
		j.reserve = max(j.reserve, left)
	}
	j.worked()
}

// worked notes that the job's allocations are productive.
func (j *jobState) worked() {
	j.dones++
	j.unproductive = unproductive{}
}

// keptWork returns how long the unfinished tasks worked in attempts that asked for another one, together.
func (j *jobState) keptWork() time.Duration {
	var sum time.Duration
	for _, i := range slices.Sorted(maps.Keys(j.kept)) {
		sum += j.kept[i]
	}
	return sum
}

// startSpan returns how much time must be left where one of the tasks starts (sched.Times.Span).
func (j *jobState) startSpan(t *byNeeds, cut bool) time.Duration {
	if !j.work.Requeues {
		return t.Left.Span(cut)
	}
	if s := j.saveSpan(); t.Left.Most == 0 || s <= t.Left.Most {
		return s
	}
	return t.Left.Most / 2
}

// saveSpan returns how much time a task should have that may end without being done. It needs not all of its time, but as much for work
// as to save its state.
func (j *jobState) saveSpan() time.Duration { return sched.Span(2 * max(j.work.Lead, j.reserve)) }

// tellEnd tells a node when its allocation ends, as far as its worker answers.
func (e *Engine) tellEnd(n *node) {
	if n.state == up && n.alloc.Ends != 0 {
		e.do(step.Ends{Node: n.id, At: n.alloc.Ends})
	}
}
