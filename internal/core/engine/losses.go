package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// losses counts the allocations that a job lost since it was planned: the plan counted on them.
// So the rest is planned again, even if other allocations still serve the job.
type losses struct {
	n       int
	last    job.AllocID // the last of them …
	why     string      // … and the reason of its end
	planned job.Time    // when the job was planned again; 0: never
}

// reason returns the losses as the reason of a plan.
func (l *losses) reason() string {
	s := "allocation " + string(l.last) + " was lost"
	if l.n > 1 {
		s = fmt.Sprintf("%d allocations were lost, the last was %s", l.n, l.last)
	}
	if l.why != "" {
		s += " (" + l.why + ")"
	}
	return s
}

// cutOff reports whether a job could have started more tasks on the allocation, which ends now.
func (e *Engine) cutOff(a *alloc) bool {
	return !a.pool.shape.Endless() && !a.Retired && slices.ContainsFunc(a.pool.active, func(j *jobState) bool {
		return j.active() && slices.ContainsFunc(j.unstarted(), func(t *byNeeds) bool {
			return !a.hasBegun() || sched.InTime(e.now, a.Ends, t.span) && a.fitsTask(t)
		})
	})
}

// unstarted returns the tasks by their needs of which some are not over, of a MapReduce job the maps or, once these are over, the reduces.
func (j *jobState) unstarted() []*byNeeds {
	if j.work.Kind != job.MapReduce {
		return slices.DeleteFunc(slices.Clone(j.of), func(t *byNeeds) bool { return t.left() == 0 })
	}
	if j.counts[0].left() == 0 {
		return j.of[1:]
	}
	return j.of[:1]
}

// applyLoss notes that an allocation was lost for the job that requested it. If that job is over, it is
// noted for those that requested none, as they were planned to run on the present ones, and for
// those whose plan counts on it.
func (e *Engine) applyLoss(a *alloc, reason string) {
	for _, j := range a.pool.active {
		own := slices.ContainsFunc(a.pool.allocs, func(b *alloc) bool { return b.job == j.ID })
		if j.ID == a.job || e.jobs[a.job].isOver() && (!own || a.counted(j)) {
			j.losses.n++
			j.losses.last, j.losses.why = a.id, reason
		}
	}
}
