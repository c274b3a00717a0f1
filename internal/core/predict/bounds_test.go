package predict

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fixed returns an invariant of that mean and maximum.
func fixed(avg, maximum float64) Invariant { return Invariant{Low: avg, Avg: avg, Max: maximum} }

// TestBoundsByHand sets Bounds beside numbers worked out by hand from eq. 1.
func TestBoundsByHand(t *testing.T) {
	inv := Invariants{Map: fixed(60, 90), FirstShuffle: fixed(10, 15), OtherShuffle: fixed(20, 25), Reduce: fixed(120, 160)}
	tests := []struct {
		name  string
		shape Shape
		want  Estimate
		total Interval
	}{
		{
			// 200 maps and 50 reduces on 16 nodes with one slot of each sort.
			// map: 200·60/16 = 750; 199·60/16 + 90 = 836.25
			// other shuffle: (50/16 − 1)·20 = 42.5; (49/16 − 1)·20 + 25 = 66.25
			// reduce: 50·120/16 = 375; 49·120/16 + 160 = 527.5
			name:  "many waves",
			shape: Shape{Maps: 200, Reduces: 50, MapSlots: Uniform(16), ReduceSlots: Uniform(16)},
			want: Estimate{Map: Interval{750, 836.25}, FirstShuffle: Interval{10, 15},
				OtherShuffle: Interval{42.5, 66.25}, Reduce: Interval{375, 527.5}},
			total: Interval{1177.5, 1445},
		},
		{
			// one wave of reduces: 4·120/4 = 120; 3·120/4 + 160 = 250
			name:  "one wave of reduces",
			shape: Shape{Maps: 4, Reduces: 4, MapSlots: Uniform(4), ReduceSlots: Uniform(4)},
			want:  Estimate{Map: Interval{60, 135}, FirstShuffle: Interval{10, 15}, Reduce: Interval{120, 250}},
			total: Interval{190, 400},
		},
		{
			name:  "a bag",
			shape: Shape{Maps: 10, MapSlots: Uniform(4)},
			want:  Estimate{Map: Interval{150, 225}}, // 10·60/4; 9·60/4 + 90
			total: Interval{150, 225},
		},
		{
			name:  "a task on more slots than it can use",
			shape: Shape{Maps: 1, MapSlots: Uniform(64)},
			want:  Estimate{Map: Interval{60, 90}},
			total: Interval{60, 90},
		},
		{
			// S = 2·½ = 1: 10·60/1; 9·60/1 + 90/½
			name:  "half as fast",
			shape: Shape{Maps: 10, MapSlots: Slots{Count: 2, Speed: 0.5}},
			want:  Estimate{Map: Interval{600, 720}},
			total: Interval{600, 720},
		},
		{name: "nothing to do", shape: Shape{MapSlots: Uniform(4), ReduceSlots: Uniform(4)}},
		{name: "no slots", shape: Shape{Maps: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Bounds(inv, tt.shape)
			if got != tt.want {
				t.Errorf("Bounds = %+v, want %+v", got, tt.want)
			}
			if got.Total() != tt.total {
				t.Errorf("Total = %+v, want %+v", got.Total(), tt.total)
			}
		})
	}
}

// genSlots draws up to 12 slots of a speed between ¼ and 4.
func genSlots(t *rapid.T, label string) Slots {
	return Slots{rapid.IntRange(1, 12).Draw(t, label), rapid.SampledFrom([]float64{0.25, 0.5, 1, 1.5, 4}).Draw(t, label+"' speed")}
}

func genTimes(t *rapid.T, lo int, label string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(0, 100), lo, 60).Draw(t, label)
}

func invariantOf(times []float64) Invariant {
	var s Sketch
	for _, v := range times {
		s.Add(v)
	}
	return Invariant{Low: s.Mean(), Avg: s.Mean(), Max: s.Max}
}

// greedy is the oracle: it gives each task in turn to the slot that is free first
// and returns when the last ends.
func greedy(s Slots, tasks []float64) float64 {
	free, end := make([]float64, s.Count), 0.0
	for _, d := range tasks {
		first := slices.Index(free, slices.Min(free))
		free[first] += d / s.Speed
		end = max(end, free[first])
	}
	return end
}

// TestBoundsHoldForGreedySchedules: whatever the tasks, a greedy list schedule of
// maps, then of reduces whose first wave has first shuffles, ends within the bounds.
func TestBoundsHoldForGreedySchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := Shape{MapSlots: genSlots(t, "map slots"), ReduceSlots: genSlots(t, "reduce slots")}
		maps := genTimes(t, 0, "maps")
		reduces := genTimes(t, 0, "reduces")
		wave := min(len(reduces), shape.ReduceSlots.Count)
		first := rapid.SliceOfN(rapid.Float64Range(0, 30), wave, wave).Draw(t, "first shuffles")
		other := rapid.SliceOfN(rapid.Float64Range(0, 30), len(reduces)-wave, len(reduces)-wave).Draw(t, "other shuffles")
		shape.Maps, shape.Reduces = len(maps), len(reduces)
		inv := Invariants{Map: invariantOf(maps), Reduce: invariantOf(reduces), FirstShuffle: invariantOf(first), OtherShuffle: invariantOf(other)}

		whole := make([]float64, len(reduces))
		for i, r := range reduces {
			// A task of no length would leave its slot free for a second one of the first wave.
			if i < wave {
				whole[i] = first[i] + r
			} else {
				whole[i] = other[i-wave] + r
			}
		}
		mapEnd := greedy(shape.MapSlots, maps)
		got := Bounds(inv, shape)
		within(t, "maps", mapEnd, got.Map)
		within(t, "job", mapEnd+greedy(shape.ReduceSlots, whole), got.Total())
	})
}

// within fails where v is outside the bounds by more than rounding.
func within(t *rapid.T, what string, v float64, i Interval) {
	const eps = 1e-9
	if v < i.Low*(1-eps)-eps || v > i.Up*(1+eps)+eps {
		t.Fatalf("%s end at %g, outside %+v", what, v, i)
	}
}

// TestBoundsFallWithSlots: a further slot never makes a bound later, and the lower
// bound is never above the upper one.
func TestBoundsFallWithSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inv := Invariants{
			Map: invariantOf(genTimes(t, 1, "map")), Reduce: invariantOf(genTimes(t, 1, "reduce")),
			FirstShuffle: invariantOf(genTimes(t, 1, "first")), OtherShuffle: invariantOf(genTimes(t, 1, "other")),
		}
		maps, reduces := rapid.IntRange(0, 500).Draw(t, "maps"), rapid.IntRange(0, 100).Draw(t, "reduces")
		last := Interval{math.Inf(1), math.Inf(1)}
		for n := 1; n <= 40; n++ {
			got := Bounds(inv, Shape{Maps: maps, Reduces: reduces, MapSlots: Uniform(n), ReduceSlots: Uniform(n)}).Total()
			if got.Low > got.Up+1e-9 {
				t.Fatalf("%d slots: low %g above up %g", n, got.Low, got.Up)
			}
			if got.Low > last.Low+1e-9 || got.Up > last.Up+1e-9 {
				t.Fatalf("%d slots: %+v, later than with one less: %+v", n, got, last)
			}
			last = got
		}
	})
}
