package event

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"berth/internal/core/job"
)

// The Check methods, and those of attempts, phases and needs in package job, reject values that no berth writes and that would make an index
// or a comparison fail.

func (r *JobSubmitted) Check() error {
	w := &r.Work
	if w.Tasks < 0 || w.Reduces < 0 || w.Tasks > math.MaxInt32 || w.Reduces > math.MaxInt32 {
		return fmt.Errorf("impossible numbers: %d tasks and %d reduces", w.Tasks, w.Reduces)
	}
	if math.IsNaN(w.SlowStart) {
		return fmt.Errorf("slow start is not a number")
	}
	if err := checkWeight(w.Weight); err != nil {
		return err
	}
	for _, s := range w.Memory {
		if len(w.Memory) > job.MemorySamples || s.Size < 0 || s.Peak < 0 || s.Time < 0 {
			return fmt.Errorf("impossible samples of memory")
		}
	}
	return cmp.Or(checkNeeds(w.Further), job.CheckRuns(w.Which, w.Tasks, 1+len(w.Further)))
}

func (r *TermsChanged) Check() error { return checkWeight(r.Terms.Weight) }

func checkWeight(w float64) error {
	if !(w >= 0 && w <= job.MaxWeight) {
		return fmt.Errorf("impossible weight %v", w)
	}
	return nil
}

func (r *TasksAdded) Check() error {
	if r.N < 0 || r.N > math.MaxInt32 {
		return fmt.Errorf("impossible number: %d added tasks", r.N)
	}
	return cmp.Or(checkNeeds(r.Further), job.CheckRuns(r.Which, r.N, job.MaxNeeds))
}

func checkNeeds(all []job.Needs) error {
	if len(all) >= job.MaxNeeds {
		return fmt.Errorf("impossible number: %d different needs", len(all))
	}
	return nil
}

func (r *NeedsChanged) Check() error {
	if r.Task < AllTasks || r.Mem < 0 || r.TimeLimit < 0 || int(r.Index) > job.MaxNeeds {
		return fmt.Errorf("impossible needs: %+v", *r)
	}
	return nil
}

func (c Comes) Check() error { return checkTasks(append(c.After, c.Task)) }

func (r *TasksSkipped) Check() error { return checkTasks(append(r.Tasks, r.Because)) }

func (r *TasksCancelled) Check() error { return checkTasks(r.Tasks) }

func checkTasks(tasks []int32) error {
	if i := slices.Min(append(tasks, 0)); i < 0 {
		return fmt.Errorf("impossible task %d", i)
	}
	return nil
}

func (r *OutputLost) Check() error { return job.Attempt{Job: r.Job, Task: r.Task}.Check() }

func (o Outcome) Check() error {
	if o < Done || int(o) >= len(outcomeNames) {
		return fmt.Errorf("unknown outcome %d", o)
	}
	return nil
}

func (l Lack) Check() error {
	if int(l) >= len(lackNames) {
		return fmt.Errorf("unknown lack %d", l)
	}
	return nil
}

func (r *AttemptEnded) Check() error {
	for _, s := range r.Stats {
		if !(s.Joules >= 0 && s.Joules <= math.MaxFloat64) {
			return fmt.Errorf("impossible energy %v", s.Joules)
		}
	}
	if !(r.Expected >= 0 && r.Expected <= math.MaxFloat64) {
		return fmt.Errorf("impossible expected time %v", r.Expected)
	}
	progress := job.Progress{Attempt: r.Attempt, Source: r.Source, N: r.N}
	return cmp.Or(progress.Check(), job.Curve{Marks: r.Curve}.Check())
}

func (s State) Check() error {
	switch s {
	case StateQueued, StateRunning, StateStopping, StateFinalizing, StateDone, StateFailed, StateCancelled:
		return nil
	}
	return fmt.Errorf("unknown state %q", s)
}
