package sim

import (
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
)

// work returns the job's work as far as needs of tasks are concerned.
func (a *app) work() job.Work {
	return job.Work{Kind: a.spec.Kind, Tasks: len(a.Maps), Reduces: len(a.Reduces), Terms: a.spec.Terms(), Further: a.Further, Which: a.Which}
}

// groupTasks prepares what is known of the tasks with each of their needs.
func (a *app) groupTasks() {
	w, first := a.work(), 0
	a.ofNeeds = make([]predict.Collector, w.NeedsCount())
	for _, run := range a.Which {
		a.which.Add(first, run)
		first += int(run.Tasks)
	}
}

// cores returns the cores that a task needs, all of its ranks together.
func (a *app) cores(task int) int {
	if a.Further == nil {
		return 1
	}
	w := a.work()
	n := w.NeedsAt(a.which.At(task))
	return n.CPUs * max(1, n.Ranks)
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
