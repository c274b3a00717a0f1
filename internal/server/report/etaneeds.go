package report

import (
	"berth/internal/core/job"
)

// needsLeft is what the tasks of a bag with the same needs have yet to do.
type needsLeft struct {
	need job.Resources
	left int     // tasks that have not begun
	mean float64 // seconds that those took which are done; 0: none is
}

// needsLeft returns the tasks of a bag by their needs; nil where all have the same.
func (j *Job) needsLeft() []needsLeft {
	n := j.work.NeedsCount()
	if j.work.Kind != job.Bag || n < 2 {
		return nil
	}
	of := make([]needsLeft, n)
	for k := range of {
		of[k].need = j.work.NeedsAt(k).Resources()
		if k < len(j.tasks.took) {
			of[k].mean = j.tasks.took[k].mean()
		}
	}
	for i, t := range j.tasks.table {
		if t.pos == posWaiting {
			of[min(j.tasks.needs.At(i), n-1)].left++
		}
	}
	return of
}

// tookTime adds how long a task ran to those with its needs.
func (t *tasks) tookTime(task int, seconds float64) {
	k := t.needs.At(task)
	for len(t.took) <= k {
		t.took = append(t.took, total{})
	}
	t.took[k].sum += seconds
	t.took[k].n++
}

// limits returns the time limits of the tasks of a bag by their needs, 0 where there is none or it can grow; nil without any.
func (j *Job) limits() (all []float64) {
	found := false
	for i := range j.work.NeedsCount() {
		n := j.work.NeedsAt(i)
		if n.MaxTimeLimit > 0 {
			n.TimeLimit = 0
		}
		all, found = append(all, n.TimeLimit.Seconds()), found || n.TimeLimit > 0
	}
	if !found {
		return nil
	}
	return all
}

// byNeeds returns the seconds until no task of a bag whose tasks need different resources is left: for cores and for GPUs the time that the
// tasks that are left will use them for, at the mean duration of those with the same needs, over how many are in use now; the larger of
// the two. mean is that of all tasks.
func (e *estimate) byNeeds(mean float64) (seconds float64) {
	var longest float64
	for _, of := range []func(job.Resources) int{func(r job.Resources) int { return r.CPUs }, func(r job.Resources) int { return r.GPUs }} {
		var work, used float64
		for _, n := range e.of {
			each := n.mean
			if each == 0 {
				each = mean
			}
			work += float64(n.left) * each * float64(of(n.need))
		}
		for _, a := range e.live {
			n := &e.of[e.needs(a)]
			rest := e.rest(a, mean)
			if n.mean > 0 {
				rest = e.rest(a, n.mean)
			}
			work += rest * float64(of(n.need))
			used += float64(of(n.need))
			longest = max(longest, rest)
		}
		if used > 0 {
			seconds = max(seconds, work/used)
		}
	}
	return max(e.sooner(seconds, mean), longest)
}
