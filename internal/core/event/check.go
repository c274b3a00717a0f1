package event

import (
	"fmt"
	"math"

	"berth/internal/core/job"
)

// The Check methods reject values that no berth writes and that would make an index
// or a comparison fail.

func (r *JobSubmitted) Check() error {
	w := &r.Work
	if w.Tasks < 0 || w.Reduces < 0 || w.Tasks > math.MaxInt32 || w.Reduces > math.MaxInt32 {
		return fmt.Errorf("impossible numbers: %d tasks and %d reduces", w.Tasks, w.Reduces)
	}
	if math.IsNaN(w.SlowStart) {
		return fmt.Errorf("slow start is not a number")
	}
	if !(w.Weight >= 0 && w.Weight <= job.MaxWeight) {
		return fmt.Errorf("impossible weight %v", w.Weight)
	}
	if err := checkNeeds(w.Further); err != nil {
		return err
	}
	if err := job.CheckRuns(w.Which, w.Tasks, 1+len(w.Further)); err != nil {
		return err
	}
	for _, s := range w.Memory {
		if len(w.Memory) > job.MemorySamples || s.Size < 0 || s.Peak < 0 || s.Time < 0 {
			return fmt.Errorf("impossible samples of memory")
		}
	}
	for _, c := range w.Curves {
		if err := checkCurve(c.Marks); err != nil {
			return err
		}
	}
	return nil
}

func (r *TasksAdded) Check() error {
	if r.N < 0 || r.N > math.MaxInt32 {
		return fmt.Errorf("impossible number: %d added tasks", r.N)
	}
	if err := checkNeeds(r.Further); err != nil {
		return err
	}
	if err := job.CheckRuns(r.Which, r.N, job.MaxNeeds); err != nil {
		return err
	}
	for _, c := range r.After {
		if err := checkTasks(append(c.After, c.Task)); err != nil {
			return err
		}
	}
	return nil
}

func checkNeeds(all []job.Needs) error {
	if len(all) >= job.MaxNeeds {
		return fmt.Errorf("impossible number: %d different needs", len(all))
	}
	for _, n := range all {
		if n.CPUs < 0 || n.CPUs > math.MaxInt32 || n.Mem < 0 || n.MaxMem < 0 || n.GPUs < job.NoGPUs || n.GPUs > math.MaxInt32 || n.Attempts < 0 || n.TimeLimit < 0 || n.MaxTimeLimit < 0 {
			return fmt.Errorf("impossible needs of a task: %+v", n)
		}
	}
	return nil
}

func (r *NeedsChanged) Check() error {
	if r.Task < AllTasks || r.Mem < 0 || r.TimeLimit < 0 || int(r.Index) > job.MaxNeeds {
		return fmt.Errorf("impossible needs: %+v", *r)
	}
	return nil
}

func (r *TasksSkipped) Check() error { return checkTasks(append(r.Tasks, r.Because)) }

func (r *TasksCancelled) Check() error { return checkTasks(r.Tasks) }

func checkTasks(tasks []int32) error {
	for _, i := range tasks {
		if i < 0 {
			return fmt.Errorf("impossible task %d", i)
		}
	}
	return nil
}

func (r *JobStopping) Check() error { return checkState(r.State) }

func (r *JobEnded) Check() error { return checkState(r.State) }

func (r *AttemptStarted) Check() error { return CheckAttempt(r.Attempt, r.Through) }

func (r PhaseEntered) Check() error { return CheckAttempt(r.Attempt, r.Phase) }

func (r *PhaseGranted) Check() error { return CheckAttempt(r.Attempt, r.Phase) }

func (r *CommitGranted) Check() error { return CheckAttempt(r.Attempt) }

func (r *OutputLost) Check() error { return CheckAttempt(job.Attempt{Job: r.Job, Task: r.Task}) }

func (r *OutputHeld) Check() error { return CheckAttempt(r.Attempt) }

// Check returns an error for a value of the record that is out of its range; the record may come
// from a worker.
func (r AttemptEnded) Check() error {
	if r.Outcome < Done || int(r.Outcome) >= len(outcomeNames) {
		return fmt.Errorf("unknown outcome %d", r.Outcome)
	}
	if int(r.Lack) >= len(lackNames) {
		return fmt.Errorf("unknown lack %d", r.Lack)
	}
	for _, s := range r.Stats {
		if err := CheckAttempt(r.Attempt, s.Phase); err != nil {
			return err
		}
		if !(s.Joules >= 0 && s.Joules <= math.MaxFloat64) {
			return fmt.Errorf("impossible energy %v", s.Joules)
		}
	}
	if err := checkCurve(r.Curve); err != nil {
		return err
	}
	if !(r.Expected >= 0 && r.Expected <= math.MaxFloat64) {
		return fmt.Errorf("impossible expected time %v", r.Expected)
	}
	progress := job.Progress{Attempt: r.Attempt, Source: r.Source, N: r.N}
	if err := progress.Check(); err != nil {
		return err
	}
	return CheckAttempt(r.Attempt)
}

// maxCurve bounds the number of values of a curve.
const maxCurve = 3 * 100

func checkCurve(marks []float64) error {
	for i, v := range marks {
		if len(marks)%3 != 0 || len(marks) > maxCurve || !(v >= 0 && v <= math.MaxFloat64) || i >= 3 && v < marks[i-3] {
			return fmt.Errorf("impossible curve of progress")
		}
	}
	return nil
}

// CheckAttempt returns an error for an attempt whose numbers are out of range, or for a phase
// that does not exist.
func CheckAttempt(a job.Attempt, phases ...job.Phase) error {
	if a.Task < 0 || a.N < 0 || a.Task > math.MaxInt32 || a.N > math.MaxInt32 {
		return fmt.Errorf("impossible attempt %v", a)
	}
	for _, p := range phases {
		if p.String() == "unknown" {
			return fmt.Errorf("unknown phase %d", p)
		}
	}
	return nil
}

func checkState(s State) error {
	switch s {
	case StateQueued, StateRunning, StateStopping, StateFinalizing, StateDone, StateFailed, StateCancelled:
		return nil
	}
	return fmt.Errorf("unknown state %q", s)
}
