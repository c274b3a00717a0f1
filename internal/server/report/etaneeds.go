package report

import (
	"cmp"

	"berth/internal/core/job"
)

// needsLeft is what the tasks with the same needs have yet to do.
type needsLeft struct {
	need job.Resources
	left int     // tasks that have not begun
	mean float64 // seconds that those took which are done; 0: none is
}

// needsLeft returns the tasks of an estimate by their needs; those of other phases than the whole task of a bag need a core each.
func (j *Job) needsLeft(e *estimate) []needsLeft {
	n := j.work.NeedsCount()
	if !e.whole() || n < 2 {
		return []needsLeft{{need: job.Resources{CPUs: 1}, left: e.left()}}
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
			of[j.needsIndex(i)].left++
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

// byNeeds returns the seconds until no task is left that has not ended the phase: for cores and for GPUs the time that the tasks that are left
// will use them for, at the mean duration of those with the same needs, over how many are in use now; the larger of the two. mean is that of
// all tasks.
func (e *estimate) byNeeds(mean float64) (seconds float64) {
	var longest float64
	for _, of := range []func(job.Resources) int{func(r job.Resources) int { return r.CPUs }, func(r job.Resources) int { return r.GPUs }} {
		var work, used float64
		for _, n := range e.of {
			work += float64(n.left) * cmp.Or(n.mean, mean) * float64(of(n.need))
		}
		for _, a := range e.live {
			n := &e.of[e.needs(a.id.Task)]
			rest := e.rest(a, cmp.Or(n.mean, mean))
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
