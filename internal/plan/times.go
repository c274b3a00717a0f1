package plan

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// Plans reckon in seconds, and in seconds from now where an instant is meant; +Inf is what has no
// end or is not in sight. Elsewhere an allocation without a time limit has one of 0, and a timeline
// has instants: what follows leads from the one to the other.

// seconds returns how long after now an instant is.
func (a *adaptor) seconds(t job.Time) float64 {
	if t == timeline.Never {
		return math.Inf(1)
	}
	return max(0, t.Sub(a.q.Now).Seconds())
}

// instant returns the time so many seconds after now.
func (a *adaptor) instant(seconds float64) job.Time {
	if math.IsInf(seconds, 1) {
		return timeline.Never
	}
	return a.q.Now.Add(time.Duration(math.Round(seconds * float64(time.Second))))
}

// limitSeconds returns a time limit in seconds; 0 is none.
func limitSeconds(d time.Duration) float64 {
	if d == 0 {
		return math.Inf(1)
	}
	return d.Seconds()
}

// limitDuration undoes limitSeconds.
func limitDuration(seconds float64) time.Duration {
	if math.IsInf(seconds, 1) {
		return 0
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// asDuration returns seconds as a duration, as far as one is needed.
func asDuration(seconds float64) time.Duration {
	return time.Duration(math.Ceil(min(seconds, 2*never) * float64(time.Second)))
}

// fit returns when so many nodes are free for so many seconds, not before that time.
func (a *adaptor) fit(line *timeline.Timeline, from float64, nodes int, seconds float64) float64 {
	d := timeline.Unbounded
	if !math.IsInf(seconds, 1) {
		d = time.Duration(math.Ceil(seconds * float64(time.Second)))
	}
	if at, ok := line.EarliestFit(a.instant(from), nodes, d); ok {
		return a.seconds(at)
	}
	return from + never
}

// ceil returns so many seconds as a wall time, in whole grains.
func (a *adaptor) ceil(seconds float64) float64 {
	if seconds > float64(math.MaxInt64/4)/float64(time.Second) {
		return math.Inf(1)
	}
	d := time.Duration(math.Ceil(seconds * float64(time.Second)))
	return max((d + a.grain - 1).Truncate(a.grain), a.grain).Seconds()
}
