package sched

import (
	"math/bits"
	"time"

	"berth/internal/job"
)

// The margin of a deadline covers what no measurement of a phase has in it: the way of
// messages, the commit, clocks that differ, and ends that a batch system tells in
// whole seconds.
const (
	marginShare = 20 // a twentieth of what is expected …
	minMargin   = time.Second
	maxMargin   = 10 * time.Second
)

// grain is the number of steps in which an expected time doubles: claims that are
// expected to take nearly the same are not told apart.
const grain = 32

// Span returns how much time must be left on a node where something begins that is
// expected to take so long: rounded up by 1/32 at most, and a margin. It is 0 for what
// is unknown, an expected time that is not positive.
func Span(expected time.Duration) time.Duration {
	if expected <= 0 {
		return 0
	}
	span := steps(expected, grain)
	return span + min(max(span/marginShare, minMargin), maxMargin)
}

// steps rounds up to one of so many steps, a power of two, in which a value doubles.
func steps[T ~int64](v T, count int) T {
	step := T(1) << max(0, bits.Len64(uint64(v))-bits.Len64(uint64(count)))
	return (v + step - 1) / step * step
}

// InTime reports whether what needs that span may begin now on a node whose time is
// over at ends; 0: it has no end. What is unknown may begin while there is any time.
func InTime(now, ends job.Time, span time.Duration) bool {
	switch {
	case ends == 0:
		return true
	case span == 0:
		return now < ends
	}
	return now <= LastStart(ends, span)
}

// LastStart returns the last instant at which what needs that span is in time.
func LastStart(ends job.Time, span time.Duration) job.Time {
	if span == 0 {
		return ends - 1
	}
	return ends.Add(-span)
}
