package straggler

import (
	"time"

	"berth/internal/job"
)

// Mark is what an attempt had done some time after it began.
type Mark struct {
	T   time.Duration `msgpack:"t" json:"t_ns"`
	N   float64       `msgpack:"n" json:"n"`      // progress, in the unit of its source
	CPU time.Duration `msgpack:"c" json:"cpu_ns"` // processor time
}

// Curve is the progress of an attempt over its time: marks with times that rise and counts that never fall.
type Curve []Mark

// most is how many marks a Track and the curve of a profile have: enough to tell dense from sparse stretches.
const most = 96

// Track is the progress of a running attempt. The zero value is that of one that has just begun.
type Track struct {
	Source   job.ProgressSource
	Fraction float64 // of a known input that it has read; −1: unknown
	Curve    Curve   // from (0, 0) on; the last mark is the latest measurement
	Now      Mark    // the latest measurement
	Before   Mark    // the one that was the latest when the View before was made
	Moved    Mark    // the first measurement with the present count: since then it made no progress
	spacing  time.Duration
}

// Add takes in a measurement that was made so long after the attempt began. A measurement by another source than before
// begins the track anew, as its counts have another unit.
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

// push appends a mark, or moves the last one there if that is nearer to the one before it than the spacing. When there are
// too many marks each second one is left out.
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

// Looked takes in that a View was made: what is the latest measurement now is the one before at the next.
func (t *Track) Looked() { t.Before = t.Now }

// Increment returns I, the progress since the View before.
func (t *Track) Increment() float64 { return t.Now.N - t.Before.N }
