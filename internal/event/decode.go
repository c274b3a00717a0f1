package event

import (
	"fmt"
	"math"

	"berth/internal/job"
	"berth/internal/mpack"
)

// decoders holds, for each kind, how its record is decoded.
var decoders = [...]func([]byte) (Record, error){
	KindJobSubmitted:   decodeAs[JobSubmitted],
	KindJobResumed:     decodeAs[JobResumed],
	KindJobStopping:    decodeAs[JobStopping],
	KindJobFinalizing:  decodeAs[JobFinalizing],
	KindJobEnded:       decodeAs[JobEnded],
	KindAttemptStarted: decodeAs[AttemptStarted],
	KindPhaseEntered:   decodeAs[PhaseEntered],
	KindLeaveGranted:   decodeAs[LeaveGranted],
	KindCommitGranted:  decodeAs[CommitGranted],
	KindAttemptEnded:   decodeAs[AttemptEnded],
	KindOutputLost:     decodeAs[OutputLost],
	KindNodeJoined:     decodeAs[NodeJoined],
	KindNodeLost:       decodeAs[NodeLost],
	KindAllocRequested: decodeAs[AllocRequested],
	KindAllocEnded:     decodeAs[AllocEnded],
	KindOutputHeld:     decodeAs[OutputHeld],
	KindAllocBegan:     decodeAs[AllocBegan],
	KindJobPlanned:     decodeAs[JobPlanned],
	KindAllocCleared:   decodeAs[AllocCleared],
}

// decode decodes the record of that kind.
func decode(k Kind, data []byte) (Record, error) {
	if int(k) >= len(decoders) || decoders[k] == nil {
		return nil, fmt.Errorf("unknown kind %d of record", k)
	}
	return decoders[k](data)
}

// decodeAs decodes a record of type R and checks its values.
func decodeAs[R Record](data []byte) (Record, error) {
	var r R
	if err := mpack.Decode(data, &r); err != nil {
		return nil, err
	}
	if c, ok := any(&r).(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// The check methods refuse values that no berth writes and that would lead an index
// or a comparison astray.

func (r *JobSubmitted) check() error {
	w := &r.Work
	if w.Tasks < 0 || w.Reduces < 0 || w.Tasks > math.MaxInt32 || w.Reduces > math.MaxInt32 {
		return fmt.Errorf("job of %d tasks and %d reduces", w.Tasks, w.Reduces)
	}
	if math.IsNaN(w.SlowStart) {
		return fmt.Errorf("slow start is not a number")
	}
	return nil
}

func (r *JobStopping) check() error { return checkState(r.State) }

func (r *JobEnded) check() error { return checkState(r.State) }

func (r *AttemptStarted) check() error { return CheckAttempt(r.Attempt, r.Leave) }

func (r *PhaseEntered) check() error { return CheckAttempt(r.Attempt, r.Phase) }

func (r *LeaveGranted) check() error { return CheckAttempt(r.Attempt, r.Phase) }

func (r *CommitGranted) check() error { return CheckAttempt(r.Attempt) }

func (r *AttemptEnded) check() error { return r.Check() }

func (r *OutputLost) check() error { return CheckAttempt(job.Attempt{Job: r.Job, Task: r.Task}) }

func (r *OutputHeld) check() error { return CheckAttempt(r.Attempt) }

// Check reports a value of the record that is out of its range; the record may come
// from a worker.
func (r *AttemptEnded) Check() error {
	if r.Outcome < Done || int(r.Outcome) >= len(outcomeNames) {
		return fmt.Errorf("unknown outcome %d", r.Outcome)
	}
	for _, s := range r.Stats {
		if err := CheckAttempt(r.Attempt, s.Phase); err != nil {
			return err
		}
	}
	return CheckAttempt(r.Attempt)
}

// CheckAttempt reports an attempt whose numbers are out of range, or a phase that
// does not exist.
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
