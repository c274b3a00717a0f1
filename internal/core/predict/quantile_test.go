package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func sketched(values ...float64) Invariant {
	s := sketchOf(values...)
	return Invariant{Low: s.Mean(), Avg: s.Mean(), Max: s.Max, Sketch: s, Scale: 1}
}

// TestQuantilesOfEqualTasks: where every task takes the same, so does every run.
func TestQuantilesOfEqualTasks(t *testing.T) {
	inv := Invariants{Map: sketched(2), FirstShuffle: sketched(1), OtherShuffle: sketched(3), Reduce: sketched(4)}
	shape := Shape{Maps: 10, Reduces: 3, MapSlots: Uniform(4), ReduceSlots: Uniform(2)}
	// maps in 3 waves: 6; a first reduce of 1 + 4, then one of 3 + 4
	for _, got := range Quantiles(inv, shape, 1, 0, 0.5, 0.95, 1) {
		if math.Abs(got-18) > 1e-9 {
			t.Errorf("got %g, want 18", got)
		}
	}
}

// TestQuantilesHaveTheMean: 1 s and 2 s by turns are no middles of buckets, yet the
// median of many tasks is that of their mean.
func TestQuantilesHaveTheMean(t *testing.T) {
	got := Quantiles(Invariants{Map: sketched(1, 2)}, Shape{Maps: 100_000, MapSlots: Uniform(1)}, 3, 0.5)[0]
	if math.Abs(got-150_000) > 60 { // sd of the total: 0.5·√10⁵ = 158; of its median over 128 runs: 18
		t.Errorf("got %g, want about 150,000", got)
	}
}

// TestQuantilesOfFastSlots: a slot twice as fast takes two tasks in the time of one.
func TestQuantilesOfFastSlots(t *testing.T) {
	shape := Shape{Maps: 4, MapSlots: Slots{Count: 2, Speed: 2}}
	if got := Quantiles(Invariants{Map: sketched(2)}, shape, 1, 0.5)[0]; math.Abs(got-2) > 1e-9 {
		t.Errorf("got %g, want 2", got)
	}
}

// TestQuantilesAreSteady: the same seed gives the same, quantiles rise, and they
// lie between what the shortest and the longest durations give.
func TestQuantilesAreSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := genTimes(t, 1, "times")
		inv := Invariants{Map: sketched(times...)}
		shape := Shape{Maps: rapid.IntRange(0, 600).Draw(t, "tasks"), MapSlots: Uniform(rapid.IntRange(1, 80).Draw(t, "slots"))}
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := Quantiles(inv, shape, seed, 0.1, 0.5, 0.9), Quantiles(inv, shape, seed, 0.1, 0.5, 0.9)
		for i := range a {
			if a[i] != b[i] || i > 0 && a[i] < a[i-1] {
				t.Fatalf("%v, then %v", a, b)
			}
		}
		waves := math.Ceil(float64(shape.Maps) / float64(shape.MapSlots.Count))
		if s := inv.Map.Sketch; shape.Maps <= bulkTail && (a[0] < waves*s.Min*(1-Accuracy)-1e-9 || a[2] > float64(shape.Maps)*s.Max*(1+Accuracy)+1e-9) {
			t.Fatalf("%v, outside %g waves of %+v", a, waves, s)
		}
	})
}

// TestQuantilesOfManyTasks: the durations of a million tasks are drawn for some thousands of them, so quantiles are off by a hundredth at most.
func TestQuantilesOfManyTasks(t *testing.T) {
	inv := Invariants{Map: sketched(1, 2, 3)}
	got := Quantiles(inv, Shape{Maps: 1_000_000, MapSlots: Uniform(10)}, 7, 0.05, 0.5, 0.95)
	for _, q := range got {
		if math.Abs(q-200_000) > 2000 {
			t.Errorf("got %v, want near 200,000", got)
		}
	}
}

func BenchmarkQuantiles(b *testing.B) {
	inv := Invariants{Map: sketched(1, 2, 3, 5, 8)}
	for b.Loop() {
		Quantiles(inv, Shape{Maps: 1_000_000, MapSlots: Uniform(64)}, 7, 0.5, 0.95)
	}
}

// TestQuantilesOfNothing: without slots nothing takes any time, and no quantile is undefined.
func TestQuantilesOfNothing(t *testing.T) {
	for _, shape := range []Shape{{}, {Maps: 3}, {MapSlots: Uniform(2)}} {
		if q := Quantiles(Invariants{}, shape, 1, 0.05, 0.95); q[0] != 0 || q[1] != 0 {
			t.Errorf("%+v takes %v", shape, q)
		}
	}
}
