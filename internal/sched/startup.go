package sched

import (
	"time"

	"berth/internal/job"
)

// StartUp is how much of its wall time an allocation lasts before a node of it is up: the
// batch system's prologue, the launch of the worker, its way to here. That is lost to tasks. Plans take it to be
// some seconds. Where that is too little an allocation for a single task comes to nothing,
// and so would the next. So it is measured, plans are told of it (job.Rest.StartUp), and an
// allocation that has yet to begin is only believed in as far as it has time for that, too.
type StartUp time.Duration

const (
	// emptyFactor is how many times as long as an allocation has lasted without a node nodes
	// are then taken to need: it had time for a task as far as its plan knew, so they need much
	// longer than that, and there are not many more tries (engine.Config.MaxUnproductive).
	emptyFactor = 4
	// emptyMost bounds that: a node that does not come in so long does not come.
	emptyMost = 10 * time.Minute
	// lateMost bounds how late it is told that an allocation has begun. What else it lacks of
	// the time that was asked for was taken from it.
	lateMost = time.Minute
)

// Measure takes in how long an allocation had lasted when its first node was up. What was measured before counts half:
// one slow allocation is forgotten in time.
func (s *StartUp) Measure(lasted time.Duration) { *s = max(StartUp(lasted), *s/2) }

// Guess takes in how long an allocation lasted that had no node: start-up takes longer than that.
func (s *StartUp) Guess(lasted time.Duration) {
	*s = max(*s, StartUp(min(emptyFactor*lasted, emptyMost)))
}

// Of returns how much of its wall time an allocation is reckoned to lose: half of it at
// most, as this may be a guess. Else none that can be had would be tried, and plans went on for
// ever; those that are tried and come to nothing are counted (engine.Config.MaxUnproductive).
func (s StartUp) Of(r job.AllocRequest) time.Duration { return min(time.Duration(s), r.Time/2) }

// Lasted returns how much of its wall time an allocation that began then and ends then, 0 for never, had lasted by a time. That it
// had begun may have been told late.
func Lasted(r job.AllocRequest, began, ends, by job.Time) time.Duration {
	lasted := max(0, by.Sub(began))
	if ends != 0 && r.Time != 0 {
		lasted = max(lasted, min(r.Time-ends.Sub(by), lateMost))
	}
	return lasted
}
