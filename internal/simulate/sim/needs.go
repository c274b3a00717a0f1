package sim

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
)

// work returns the job's work as far as needs of tasks are concerned.
func (a *app) work() job.Work {
	return job.Work{Kind: a.spec.Kind, Tasks: len(a.Maps), Reduces: len(a.Reduces), Terms: a.spec.Terms(), Further: a.Further, Which: a.Which}
}

// measureNeeds adds the end of an attempt to what is known of tasks with its needs, and returns the cores of the task.
func (a *app) measureNeeds(r event.AttemptEnded) (cores int) {
	w, task := a.work(), int(r.Attempt.Task)
	if a.ofNeeds == nil {
		a.ofNeeds = make([]predict.Collector, w.NeedsCount())
		first := 0
		for _, run := range a.Which {
			a.which.Add(first, run)
			first += int(run.Tasks)
		}
	}
	i := a.which.At(task)
	a.ofNeeds[i].Add(job.BagTask, r.Stats)
	return w.NeedsAt(i).CPUs
}

// byNeeds adds to a question what tasks need, as the adaptor wants it to be planned.
func (a *app) byNeeds(q plan.Question) plan.Question {
	if a.Further == nil {
		return q
	}
	w := a.work()
	if q.Counts.Needs = w.Left(); a.w.cfg.Adaptor.Largest {
		return asLargest(q, w)
	}
	for i := range a.ofNeeds {
		q.Own = append(q.Own, plan.Own{Measured: plan.Measured(a.ofNeeds[i].Measures())})
	}
	return q
}

// asLargest returns the question as if all tasks needed as much as the largest of them.
func asLargest(q plan.Question, w job.Work) plan.Question {
	spec, bag := *q.Spec, *q.Spec.Bag
	for i := range w.NeedsCount() {
		n := w.NeedsAt(i).Resources()
		bag.Need.CPUs, bag.Need.Mem = max(bag.Need.CPUs, n.CPUs), max(bag.Need.Mem, n.Mem)
	}
	spec.Bag, q.Spec, q.Counts.Needs = &bag, &spec, nil
	if q.Remaining != nil {
		rest := *q.Remaining
		rest.Needs, q.Remaining = nil, &rest
	}
	return q
}
