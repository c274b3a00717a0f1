package job

import "time"

// Time is an instant: nanoseconds since the Unix epoch, or since the start of a
// simulation. Pure packages get it from their callers and never read a clock.
type Time int64

// TimeOf returns a time.Time as an instant, 0 for the zero time.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixNano())
}

// Add returns the instant d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

// Seconds returns a number of seconds as a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
