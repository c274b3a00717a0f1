package sched

import (
	"time"

	"berth/internal/core/job"
)

// StartUp is the part of its wall time that an allocation spends before a node of it is up: the batch system's
// prologue, the start of the worker, its connection to the coordinator. Tasks cannot use that time. Plans assume some
// seconds. If that is too little, an allocation for a single task achieves nothing, and neither does the next. So
// start-up is measured, plans get it (job.Remaining.StartUp), and an allocation that has not begun counts only if it
// has time for the start-up as well.
type StartUp time.Duration

const (
	// emptyFactor is the assumed ratio of the start-up to the time that an allocation lasted without a
	// node: by its plan it had time for a task, so the start-up takes much longer than that time,
	// and only a few more allocations are tried (engine.maxUnproductive).
	emptyFactor = 4
	// emptyMost bounds the assumed start-up: a node that does not come up in that time never does.
	emptyMost = 10 * time.Minute
	// lateMost bounds how late the coordinator learns that an allocation has begun. If more of the
	// requested time is missing, the batch system granted less.
	lateMost = time.Minute
)

// Measure adds how long an allocation had lasted when its first node was up. Each new measurement halves the
// earlier maximum, so one slow allocation is forgotten in time.
func (s *StartUp) Measure(lasted time.Duration) { *s = max(StartUp(lasted), *s/2) }

// Guess adds how long an allocation without a node lasted: the start-up takes longer than that.
func (s *StartUp) Guess(lasted time.Duration) {
	*s = max(*s, StartUp(min(emptyFactor*lasted, emptyMost)))
}

// Of returns how much of its wall time an allocation is expected to lose: at most half of it, as the start-up may be a
// guess. Otherwise no allocation that the limits allow would be tried, and planning would never end.
// Allocations that achieve nothing are counted (engine.maxUnproductive).
func (s StartUp) Of(r job.AllocRequest) time.Duration { return min(time.Duration(s), r.Time/2) }

// Lasted returns how much of its wall time an allocation had used at the time by, given when it began and when it ends
// (0: never). The report that it had begun may have come late.
func Lasted(r job.AllocRequest, began, ends, by job.Time) time.Duration {
	lasted := max(0, by.Sub(began))
	if ends != 0 && r.Time != 0 {
		lasted = max(lasted, min(r.Time-ends.Sub(by), lateMost))
	}
	return lasted
}
