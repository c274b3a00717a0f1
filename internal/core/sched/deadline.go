package sched

import (
	"time"

	"berth/internal/core/job"
)

// The margin of a deadline covers what no measurement of a phase includes: the latency of
// messages, the commit, clocks that differ, and ends of allocations that a batch system
// rounds to seconds.
const (
	marginShare = 20 // a twentieth of the expected time …
	minMargin   = time.Second
	maxMargin   = 10 * time.Second
)

// grain is the number of steps in which an expected time doubles. Tasks with nearly the same
// expected time share a group.
const grain = 32

// Span returns how much time a node must have left for something that is expected to take
// that long: the expected time rounded up by at most 1/32, and a margin. It is 0 if the expected
// time is not positive, which means unknown.
func Span(expected time.Duration) time.Duration {
	if expected <= 0 {
		return 0
	}
	span := job.Steps(expected, grain)
	return span + min(max(span/marginShare, minMargin), maxMargin)
}

// InTime reports whether a task with that span may start now on a node whose time ends at
// ends (0: never). A task with span 0 may start while any time is left.
func InTime(now, ends job.Time, span time.Duration) bool {
	switch {
	case ends == 0:
		return true
	case span == 0:
		return now < ends
	}
	return now <= LastStart(ends, span)
}

// LastStart returns the last instant at which a task with that span may start.
func LastStart(ends job.Time, span time.Duration) job.Time {
	if span == 0 {
		return ends - 1
	}
	return ends.Add(-span)
}
