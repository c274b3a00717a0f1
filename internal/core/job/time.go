package job

import "time"

// Time is an instant: nanoseconds since the Unix epoch, or since the start of a
// simulation. Pure packages get it from their callers and never read a clock.
type Time int64

// Add returns the instant d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }
