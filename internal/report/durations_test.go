package report

import (
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

// TestDurationsQuantiles compares the sketch with the sorted list.
func TestDurationsQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Int64Range(1_000, int64(400*time.Hour)), 1, 200).Draw(t, "ns")
		var d durations
		for _, x := range xs {
			d.add(time.Duration(x))
		}
		slices.Sort(xs)
		for _, q := range []float64{0.01, 0.5, 0.95, 1} {
			want := time.Duration(xs[max(int(math.Ceil(q*float64(len(xs)))), 1)-1]).Seconds()
			if got := d.quantile(q); math.Abs(got-want) > 0.0101*want {
				t.Fatalf("%g-quantile of %v: got %g, want %g", q, xs, got, want)
			}
		}
		if d.min != time.Duration(xs[0]) || d.max != time.Duration(xs[len(xs)-1]) || d.n != len(xs) {
			t.Fatalf("extremes or number: %+v", d)
		}
	})
}

// TestDurationsOfNothing: no samples, and clocks that were set back, give zeros.
func TestDurationsOfNothing(t *testing.T) {
	var d durations
	if d.mean() != 0 || d.quantile(0.5) != 0 {
		t.Errorf("nothing has mean %g and median %g", d.mean(), d.quantile(0.5))
	}
	d.add(-time.Second)
	if d.mean() != 0 || d.quantile(0.5) != 0 || d.max != 0 {
		t.Errorf("a negative duration counts: %+v", d)
	}
}

// TestTaskIsSmall: a bag of a million tasks must not weigh on the coordinator.
func TestTaskIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(task{}); n > 8 {
		t.Errorf("%d bytes are kept for each task", n)
	}
}
