package straggler

import (
	"time"

	"berth/internal/core/job"
)

// Mark is the progress of an attempt at a time after its start.
type Mark struct {
	T   time.Duration `msgpack:"t" json:"t_ns"`
	N   float64       `msgpack:"n" json:"n"`      // progress, in the unit of its source
	CPU time.Duration `msgpack:"c" json:"cpu_ns"` // processor time
}

// Curve is the progress of an attempt over its time: marks with rising times and counts that never fall.
type Curve []Mark

// most is the maximum number of marks of a Track and of the curve in a profile: enough to distinguish dense from sparse stretches.
const most = 96

// Track is the progress of a running attempt. The zero value belongs to an attempt that has just started.
type Track struct {
	Source   job.ProgressSource
	Fraction float64 // part of a known input that it has read; −1: unknown
	Curve    Curve   // starts at (0, 0); the last mark is the latest measurement
	Now      Mark    // the latest measurement
	Moved    Mark    // the first measurement with the present count: no progress since then
	spacing  time.Duration
}

// Add adds a measurement that was made that long after the attempt started. A measurement by another source
// restarts the track, as its counts have another unit.
func (t *Track) Add(after time.Duration, p job.Progress) {
	if p.Source != t.Source {
		*t = Track{Source: p.Source}
	}
	m := Mark{T: after, N: p.N, CPU: p.CPU}
	if t.Curve == nil {
		t.Curve = append(make(Curve, 0, 16), Mark{})
	}
	if m.T <= t.Now.T || m.N < t.Now.N {
		return // late, or out of order
	}
	t.Fraction = p.Fraction
	if m.N > t.Now.N {
		t.Moved = m
	}
	t.Now = m
	t.push(m)
}

// push appends a mark, or replaces the last mark if that is closer to the one before it than the spacing. If there are
// too many marks, every second one is removed.
func (t *Track) push(m Mark) {
	c := t.Curve
	if last := len(c) - 1; last >= 1 && c[last].T-c[last-1].T < t.spacing {
		c[last] = m
		return
	}
	t.Curve = append(c, m)
	if len(t.Curve) > most {
		t.thin()
	}
}

func (t *Track) thin() {
	c, kept := t.Curve, 0
	for i := 0; i < len(c)-1; i += 2 {
		c[kept] = c[i]
		kept++
	}
	c[kept] = c[len(c)-1]
	t.Curve = c[:kept+1]
	t.spacing = c[kept].T / (most / 2)
}
