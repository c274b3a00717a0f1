package straggler

import (
	"testing"
	"time"

	"berth/internal/core/job"
)

// curve returns marks at these seconds, each with its count.
func curve(marks ...[2]float64) (c Curve) {
	for _, m := range marks {
		c = append(c, Mark{T: time.Duration(m[0] * float64(time.Second)), N: m[1]})
	}
	return c
}

// TestIncrementsOfMeasuredCounts: increments between two ages are compared only among attempts that were measured by the first age and have
// reached the second. What was counted before the first measurement may all belong to the first moment: an attempt that is measured late
// would seem to have made the progress of its whole life in the interval.
func TestIncrementsOfMeasuredCounts(t *testing.T) {
	even := curve([2]float64{0, 0}, [2]float64{2, 102}, [2]float64{10, 110}, [2]float64{20, 120})
	late := curve([2]float64{0, 0}, [2]float64{15, 115}, [2]float64{20, 120})
	young := curve([2]float64{0, 0}, [2]float64{2, 102}, [2]float64{12, 112})
	for _, tt := range []struct {
		of     []Curve
		middle float64 // 0: unknown
	}{
		{[]Curve{even, even, even, even}, 10},
		{[]Curve{even, even, even, late, late}, 0},
		{[]Curve{even, even, even, young}, 0},
		{[]Curve{even, even, even, even, late, late, late, late, late}, 10},
	} {
		r := rates{of: tt.of, known: map[[2]int]usual{}}
		if got := r.between(10, 20); got.middle != tt.middle || got.off != 0 {
			t.Errorf("of %d attempts the usual increment is %+v, want %g", len(tt.of), got, tt.middle)
		}
	}
	l := &scale{shape: even.shape(), rates: rates{of: []Curve{even, even, even, even}, known: map[[2]int]usual{}}, sure: 2}
	for _, tt := range []struct {
		c     Curve
		known bool
	}{{even, true}, {late, false}, {curve([2]float64{0, 0}), false}} {
		track := &Track{Source: job.ProgressIO, Curve: tt.c, Now: Mark{T: 20 * time.Second, N: 120}}
		if speed, _, known := l.lately(track, 10); known != tt.known || known && speed != 1 {
			t.Errorf("%v: speed %g, known %t", tt.c, speed, known)
		}
	}
}

// TestMedianEnd: of an even number of attempts that ended, the time to the end is the mean of the two in the middle. Those that had ended
// with a lower count do not tell, and fewer than half tell nothing.
func TestMedianEnd(t *testing.T) {
	l := &scale{took: 99, ends: []end{{10, 100}, {20, 200}, {30, 400}, {40, 800}}}
	for _, tt := range []struct{ n, tau, left float64 }{
		{5, 50, 250},   // (200 + 400) / 2
		{15, 150, 250}, // three: 400
		{25, 250, 350}, // two: (400 + 800) / 2
		{20, 150, 250}, // as many counts as the second had
		{25, 700, 0},   // it has run for longer than they did
		{35, 500, -1},  // one of four
	} {
		if got := l.left(tt.n, tt.tau); got != tt.left {
			t.Errorf("with the count %g after %g: %g left, want %g", tt.n, tt.tau, got, tt.left)
		}
	}
	if got := (&scale{took: 99}).left(5, 50); got != 49 {
		t.Errorf("without ends %g left", got)
	}
}
