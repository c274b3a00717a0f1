package plan

import (
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// Plans compute in seconds, and in seconds from now for instants; +Inf is no end, or an unknown instant. Elsewhere an
// allocation without a time limit has one of 0, and a timeline has instants: these functions convert between the two.

// seconds returns how long after now an instant is.
func (a *adaptor) seconds(t job.Time) float64 {
	if t == timeline.Never {
		return math.Inf(1)
	}
	return max(0, t.Sub(a.q.Now).Seconds())
}

// instant returns the time that many seconds after now.
func (a *adaptor) instant(seconds float64) job.Time {
	if math.IsInf(seconds, 1) {
		return timeline.Never
	}
	return a.q.Now.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

// limitSeconds returns a time limit in seconds; 0 stands for none.
func limitSeconds(d time.Duration) float64 {
	if d == 0 {
		return math.Inf(1)
	}
	return d.Seconds()
}

// limitDuration is the inverse of limitSeconds.
func limitDuration(seconds float64) time.Duration {
	if math.IsInf(seconds, 1) {
		return 0
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// asDuration returns seconds as a duration, rounded up and bounded by twice the horizon.
func asDuration(seconds float64) time.Duration {
	return time.Duration(math.Ceil(min(seconds, 2*horizon) * float64(time.Second)))
}

// freeFrom returns when that many nodes are free for that many seconds, not before the instant from.
func (a *adaptor) freeFrom(line *timeline.Timeline, from float64, nodes int, seconds float64) float64 {
	d := timeline.Unbounded
	if !math.IsInf(seconds, 1) {
		d = time.Duration(math.Ceil(seconds * float64(time.Second)))
	}
	if at, ok := line.EarliestFit(a.instant(from), nodes, d); ok {
		return a.seconds(at)
	}
	return from + horizon
}

// ceilGrain rounds seconds up to a wall time in whole grains.
func (a *adaptor) ceilGrain(seconds float64) float64 {
	if seconds > float64(math.MaxInt64/4)/float64(time.Second) {
		return math.Inf(1)
	}
	d := time.Duration(math.Ceil(seconds * float64(time.Second)))
	return max((d + a.grain - 1).Truncate(a.grain), a.grain).Seconds()
}
