package timeline

import (
	"encoding/json"
	"time"

	"berth/internal/job"
)

// slotJSON is a Slot as JSON has it: null stands for what has no end, as programs
// would take the greatest integer for a time.
type slotJSON struct {
	Start    *job.Time      `json:"start_ns"`
	Nodes    int            `json:"nodes"`
	Duration *time.Duration `json:"duration_ns"`
}

// MarshalJSON writes the slot; null for a start that never comes and for a duration
// without an end.
func (s Slot) MarshalJSON() ([]byte, error) {
	return json.Marshal(slotJSON{Start: TimeOrNull(s.Start), Nodes: s.Nodes, Duration: DurationOrNull(s.Duration)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Slot) UnmarshalJSON(b []byte) error {
	var j slotJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Slot{Start: NullTime(j.Start), Nodes: j.Nodes, Duration: NullDuration(j.Duration)}
	return nil
}

// TimeOrNull returns a pointer that JSON writes as null for Never.
func TimeOrNull(t job.Time) *job.Time {
	if t == Never {
		return nil
	}
	return &t
}

// NullTime undoes TimeOrNull.
func NullTime(t *job.Time) job.Time {
	if t == nil {
		return Never
	}
	return *t
}

// DurationOrNull returns a pointer that JSON writes as null for Unbounded.
func DurationOrNull(d time.Duration) *time.Duration {
	if d == Unbounded {
		return nil
	}
	return &d
}

// NullDuration undoes DurationOrNull.
func NullDuration(d *time.Duration) time.Duration {
	if d == nil {
		return Unbounded
	}
	return *d
}
