package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestAtLeastIsNoMore: no run ends sooner than the bound, and where there is one wave of
// tasks, or a slot alone, the bound is what it is.
func TestAtLeastIsNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := genWindows(t)
		load := Load{Maps: rapid.IntRange(0, 30).Draw(t, "maps"), Reduces: rapid.IntRange(0, 12).Draw(t, "reduces")}
		var runs []Trial
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			runs = append(runs, Trial{Maps: NewSeries(genSeries(t, load.Maps, "map times")), First: NewSeries(genSeries(t, load.Reduces, "first")),
				Other: NewSeries(genSeries(t, load.Reduces, "other")), Reduces: NewSeries(genSeries(t, load.Reduces, "rest"))})
		}
		trials := GivenTrials(load, Expected{Map: float64(rapid.IntRange(0, 45).Draw(t, "expected"))}, runs...)
		bound, mean := trials.AtLeast(windows), trials.Run(windows).Mean()
		if bound > mean {
			t.Fatalf("the bound is %g, the mean %g", bound, mean)
		}
	})
}

func TestAtLeastIsClose(t *testing.T) {
	inf := math.Inf(1)
	ten := NewSeries([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	for _, c := range []struct {
		name    string
		load    Load
		windows []Window
		want    float64
	}{
		{"one slot", Load{Maps: 10}, []Window{{Start: 5, End: inf, TaskSlots: 1}}, 60},
		{"one wave", Load{Maps: 10}, []Window{{Start: 5, End: inf, TaskSlots: 10}}, 15},
		{"a gap", Load{Maps: 10}, []Window{{Start: 0, End: 10, TaskSlots: 2}, {Start: 40, End: inf, TaskSlots: 5}}, 47},
		{"a window inside another", Load{Maps: 10}, []Window{{Start: 0, End: inf, TaskSlots: 1}, {Start: 10, End: 20, TaskSlots: 3}}, 25},
		{"maps and reduces", Load{Maps: 10, Reduces: 10}, []Window{{Start: 5, End: inf, TaskSlots: 1, ReduceSlots: 5}}, 71},
		{"reduces only", Load{Reduces: 10}, []Window{{Start: 5, End: inf, ReduceSlots: 5}}, 16},
		{"no more slots than tasks", Load{Maps: 4}, []Window{{Start: 5, End: 6, TaskSlots: 100}, {Start: 90, End: inf, TaskSlots: 1}}, 96},
		{"too little", Load{Maps: 10}, []Window{{Start: 5, End: 15, TaskSlots: 5}}, inf},
		{"no slots", Load{Maps: 10}, nil, inf},
		{"nothing to do", Load{}, nil, 0},
	} {
		got := GivenTrials(c.load, Expected{}, Trial{Maps: ten, Reduces: ten}).AtLeast(c.windows)
		if got != c.want && math.Abs(got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// TestTournamentIsASort: slots come up as a plain search finds them.
func TestTournamentIsASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := make([]slot, rapid.IntRange(1, 20).Draw(t, "slots"))
		for i := range slots {
			slots[i].free = float64(rapid.IntRange(-3, 9).Draw(t, "free"))
		}
		var now tournament
		now.build(slots)
		for range 40 {
			want := 0
			for i, p := range slots {
				if p.free < slots[want].free {
					want = i
				}
			}
			top, ok := now.top()
			if ok == math.IsInf(slots[want].free, 1) || ok && top != want {
				t.Fatalf("slot %d, %v, of %+v", top, ok, slots)
			}
			if !ok {
				return
			}
			if rapid.IntRange(0, 3).Draw(t, "leaves") == 0 {
				slots[top].free = math.Inf(1)
				now.removeTop(top)
				continue
			}
			slots[top].free += float64(rapid.IntRange(0, 5).Draw(t, "busy"))
			now.setFree(top, slots[top].free)
		}
	})
}
