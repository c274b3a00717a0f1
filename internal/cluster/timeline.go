package cluster

import (
	"math"
	"time"

	"berth/internal/job"
)

// Never is the end of what has none.
const Never job.Time = math.MaxInt64

// Unbounded is the duration of a slot that has no end.
const Unbounded time.Duration = math.MaxInt64

// Step is a value of a timeline: so many nodes are free from then on.
type Step struct {
	Start job.Time `json:"start_ns"`
	Free  int      `json:"free"`
}

// Slot is a free slot: a maximal rectangle under the timeline. No slot of the same
// timeline contains another (models.md, section 2).
type Slot struct {
	Start    job.Time      `json:"start_ns"`
	Nodes    int           `json:"nodes"`
	Duration time.Duration `json:"duration_ns"` // Unbounded: no end
}

// End returns when the slot ends, Never for one without an end.
func (s Slot) End() job.Time {
	if s.Duration == Unbounded {
		return Never
	}
	return s.Start.Add(s.Duration)
}
