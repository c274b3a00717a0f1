package predict

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRunWithinIsRun: the result from runs alone equals that of placing all tasks again, and a run that is given up
// exceeds the limit.
func TestRunWithinIsRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		load := Load{Maps: rapid.IntRange(0, 30).Draw(t, "maps"), Reduces: rapid.IntRange(0, 12).Draw(t, "reduces")}
		var runs []Trial
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			runs = append(runs, Trial{Maps: NewSeries(genSeries(t, load.Maps, "map times")), First: NewSeries(genSeries(t, load.Reduces, "first")),
				Other: NewSeries(genSeries(t, load.Reduces, "other")), Reduces: NewSeries(genSeries(t, load.Reduces, "rest"))})
		}
		expect := Expected{Map: float64(rapid.IntRange(0, 45).Draw(t, "expected")), Reduce: float64(rapid.IntRange(0, 90).Draw(t, "expected of reduces"))}
		trials := GivenTrials(load, expect, runs...)
		first := Window{Start: float64(rapid.IntRange(0, 50).Draw(t, "start")),
			TaskSlots: rapid.IntRange(0, 4).Draw(t, "task slots"), ReduceSlots: rapid.IntRange(0, 4).Draw(t, "reduce slots")}
		alone := trials.Alone(first)
		placed := trials.Placed()
		if again := trials.Alone(first); !slices.Equal(again.Finish, alone.Finish) || trials.Placed() != 2*placed {
			t.Fatalf("the second time %v, %d placed; the first time %v, %d placed", again.Finish, trials.Placed()-placed, alone.Finish, placed)
		}
		first.Start += float64(rapid.IntRange(0, 20).Draw(t, "later"))
		first.End = first.Start + float64(rapid.IntRange(1, 200).Draw(t, "length"))
		windows := []Window{first}
		if rapid.Bool().Draw(t, "goes on") {
			windows = append(windows, Window{Start: first.End + float64(rapid.IntRange(0, 20).Draw(t, "gap")), End: math.Inf(1), TaskSlots: 2, ReduceSlots: 1})
		}

		want := trials.Run(windows)
		limit := want.Mean() * rapid.SampledFrom([]float64{0.5, 0.99, 1, 1.01, 2}).Draw(t, "limit")
		got, bound, ok := trials.RunWithin(windows, alone, limit)
		switch {
		case math.IsNaN(limit):
		case ok && (!slices.Equal(got.Finish, want.Finish) || got.Left != want.Left || bound != want.Mean()):
			t.Fatalf("%v with %g left, mean %g, want %v with %g left", got.Finish, got.Left, bound, want.Finish, want.Left)
		case !ok && (want.Mean() < limit || bound > want.Mean()*(1+1e-9)):
			t.Fatalf("given up as %g is more than %g, but the mean is %g", bound, limit, want.Mean())
		case ok && want.Mean() > limit*(1+1e-9):
			t.Fatalf("the mean %g is more than %g, but it was not given up", want.Mean(), limit)
		}
	})
}
