package predict

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference is the oracle of list: it proceeds from event to event as the engine does, looks at
// every slot each time, and knows no heap and no bulk.
type reference struct {
	windows []Window
	expect  float64
	task    func(i int, first bool) float64
}

type simpleSlot struct {
	window   int
	idle     float64 // since when, or from when on
	first    bool
	closed   bool
	busy     bool
	end      float64 // while busy: when it is done, or its window over
	fails    bool
	task     int
	duration float64
}

// run returns when n tasks that are ready at from are done, and how many are not.
func (r *reference) run(n int, from float64, count func(Window) int) (end float64, left int) {
	var slots []*simpleSlot
	for i, w := range r.windows {
		for range count(w) {
			slots = append(slots, &simpleSlot{window: i, idle: max(w.Start, from), first: w.Start <= from})
		}
	}
	end = from
	next, running := 0, 0
	var again []lost
	for now := from; ; {
		for _, s := range slots { // ends come first
			if s.busy && s.end <= now {
				s.busy = false
				running--
				if s.fails {
					s.closed = true
					again = append(again, lost{s.end, s.task, s.duration})
					slices.SortFunc(again, func(a, b lost) int { return cmp.Or(cmp.Compare(a.ready, b.ready), a.task-b.task) })
				} else {
					end = max(end, s.end)
					s.idle, s.first = s.end, false
				}
			}
		}
		for next < n || len(again) > 0 {
			var best *simpleSlot
			for _, s := range slots {
				if !s.busy && !s.closed && s.idle <= now && (best == nil || s.idle < best.idle) {
					best = s
				}
			}
			if best == nil {
				break
			}
			w := r.windows[best.window]
			if now >= w.End || now+r.expect > w.End {
				best.closed = true
				continue
			}
			if len(again) > 0 {
				best.task, best.duration, again = again[0].task, again[0].seconds, again[1:]
			} else {
				best.task, best.duration = next, r.task(next, best.first)
				next++
			}
			running++
			best.busy, best.end = true, now+best.duration
			if best.fails = best.end > w.End; best.fails {
				best.end = w.End
			}
		}
		later := math.Inf(1)
		for _, s := range slots {
			switch {
			case s.closed:
			case s.busy:
				later = min(later, s.end)
			case s.idle > now:
				later = min(later, s.idle)
			}
		}
		if next == n && len(again) == 0 && running == 0 || math.IsInf(later, 1) {
			return end, n - next + len(again)
		}
		now = later
	}
}

// Run places all tasks, whatever the mean.
func (t *Trials) Run(windows []Window) Outcome {
	o, _, _ := t.RunWithin(windows, nil, math.Inf(1))
	return o
}

// genWindows draws some windows. Times are such that sums are exact.
func genWindows(t *rapid.T) []Window {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Window {
		w := Window{Start: float64(rapid.IntRange(0, 50).Draw(t, "start")), End: math.Inf(1),
			TaskSlots: rapid.IntRange(0, 4).Draw(t, "task slots"), ReduceSlots: rapid.IntRange(0, 4).Draw(t, "reduce slots")}
		if rapid.Bool().Draw(t, "ends") {
			w.End = w.Start + float64(rapid.IntRange(1, 80).Draw(t, "length"))
		}
		return w
	}), 1, 4).Draw(t, "windows")
}

func genSeries(t *rapid.T, n int, label string) []float64 {
	v := rapid.SliceOfN(rapid.IntRange(1, 40), n, n).Draw(t, label)
	s := make([]float64, n)
	for i := range v {
		s[i] = float64(v[i])
	}
	return s
}

// TestListIsAsASimpleOne: a run over windows, with tasks that do not fit and tasks that are lost, ends when the run of a
// simple event-driven scheduler does.
func TestListIsAsASimpleOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows := genWindows(t)
		load := Load{Maps: rapid.IntRange(0, 30).Draw(t, "maps"), Reduces: rapid.IntRange(0, 12).Draw(t, "reduces")}
		maps := genSeries(t, load.Maps, "map times")
		first, other, rest := genSeries(t, load.Reduces, "first"), genSeries(t, load.Reduces, "other"), genSeries(t, load.Reduces, "rest")
		expect := Expected{Map: float64(rapid.IntRange(0, 45).Draw(t, "expected")), Reduce: float64(rapid.IntRange(0, 90).Draw(t, "expected of reduces"))}

		o := GivenTrials(load, expect, Trial{Maps: NewSeries(maps), First: NewSeries(first), Other: NewSeries(other), Reduces: NewSeries(rest)}).Run(windows)

		r := reference{windows, expect.Map, func(i int, _ bool) float64 { return maps[i] }}
		end, left := r.run(load.Maps, 0, func(w Window) int { return w.TaskSlots })
		if left > 0 {
			left += load.Reduces
		} else if load.Reduces > 0 {
			from := end
			if load.Maps == 0 {
				from = -1
			}
			r := reference{windows, expect.Reduce, func(i int, firstWave bool) float64 {
				if firstWave {
					return first[i] + rest[i]
				}
				return other[i] + rest[i]
			}}
			var last float64
			last, left = r.run(load.Reduces, from, func(w Window) int { return w.ReduceSlots })
			end = max(end, last)
		}
		if left > 0 {
			end = math.Inf(1)
		}
		if o.Finish[0] != end || o.Left != float64(left) {
			t.Fatalf("ends at %g with %g left, the reference at %g with %d", o.Finish[0], o.Left, end, left)
		}
	})
}

// TestBulkIsAsOneByOne: over many runs, bulk placement ends when placement task by task does.
func TestBulkIsAsOneByOne(t *testing.T) {
	inv := Invariants{Map: sketched(1, 2, 3, 5, 8), FirstShuffle: sketched(1), OtherShuffle: sketched(2, 3), Reduce: sketched(4, 9)}
	for name, windows := range map[string][]Window{
		"one":      {{End: math.Inf(1), TaskSlots: 10, ReduceSlots: 10}},
		"later":    {{Start: 300, End: math.Inf(1), TaskSlots: 10, ReduceSlots: 7}, {Start: 10, End: math.Inf(1), TaskSlots: 3, ReduceSlots: 2}},
		"bounded":  {{Start: 0, End: 500, TaskSlots: 20, ReduceSlots: 3}, {Start: 700, End: math.Inf(1), TaskSlots: 5, ReduceSlots: 30}},
		"unequal":  {{Start: 0, End: 900, TaskSlots: 2, ReduceSlots: 1}, {Start: 100, End: math.Inf(1), TaskSlots: 11, ReduceSlots: 2}},
		"too few":  {{Start: 0, End: 400, TaskSlots: 10, ReduceSlots: 3}},
		"no maps":  {{Start: 0, End: math.Inf(1), TaskSlots: 0, ReduceSlots: 3}},
		"no slots": {},
	} {
		t.Run(name, func(t *testing.T) {
			trials := NewTrials(inv, Load{Maps: 4000, Reduces: 1500}, 5, 24, 1)
			got := trials.Run(windows)
			for i, run := range trials.runs {
				r := reference{windows, trials.expect.Map, func(i int, _ bool) float64 { return run.Maps.at(i) }}
				end, left := r.run(4000, 0, func(w Window) int { return w.TaskSlots })
				one := list{windows: windows}
				mine, undone := one.placeStage(&stageRun{tasks: 4000, expect: trials.expect.Map, rest: run.Maps})
				if (left > 0) != (undone > 0) || math.Abs(float64(left-undone)) > 40 || undone == 0 && math.Abs(end-mine) > 0.02*end {
					t.Fatalf("run %d: maps end at %g with %d left, one by one at %g with %d", i, mine, undone, end, left)
				}
			}
			if math.IsInf(got.Mean(), 1) != (got.Left > 0) {
				t.Errorf("mean %g with %g left", got.Mean(), got.Left)
			}
		})
	}
}

// TestTrialsHaveTheMean: over all trials, tasks average what was measured, and the
// factors spread as bounds do: of two runs after one, every sixth lies beyond half as
// long again (one σ).
func TestTrialsHaveTheMean(t *testing.T) {
	inv := Invariants{Map: sketched(1, 2, 3)}
	for _, runs := range []int{1, 5, 20} {
		o := NewTrials(inv, Load{Maps: 100_000}, runs, 200, 3).Run([]Window{{End: math.Inf(1), TaskSlots: 1}})
		if math.Abs(o.Mean()/200_000-1) > 0.02 {
			t.Errorf("%d runs: mean %g, want about 200,000", runs, o.Mean())
		}
		f := float64(runs+2) / float64(runs+1)
		sigma := math.Log(f)
		if got := o.Quantile(0.8413) / o.Quantile(0.5); math.Abs(got/f-1) > 0.02 {
			t.Errorf("%d runs: one σ is ×%g, want ×%g (σ %g)", runs, got, f, sigma)
		}
	}
}

func TestOutcome(t *testing.T) {
	inf := math.Inf(1)
	o := Outcome{Finish: []float64{1, 2, 3, 4}}
	for q, want := range map[float64]float64{0: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.75: 3, 0.99: 4, 1: 4} {
		if got := o.Quantile(q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	for end, want := range map[float64]float64{0: 1, 1: 0.75, 1.5: 0.75, 3: 0.25, 4: 0, inf: 0} {
		if got := o.Late(end); got != want {
			t.Errorf("late at %g: %g, want %g", end, got, want)
		}
	}
	if got := o.Mean(); got != 2.5 {
		t.Errorf("mean %g", got)
	}
	if got := (Outcome{Finish: []float64{1, inf}}).Mean(); got != inf {
		t.Errorf("mean %g of one that never ends", got)
	}
}

// TestMoreWindowsAreNoLater: where nothing ends, a further window or slot delays no run.
func TestMoreWindowsAreNoLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inv := Invariants{Map: sketched(genTimes(t, 1, "map")...), OtherShuffle: sketched(1), FirstShuffle: sketched(1), Reduce: sketched(genTimes(t, 1, "reduce")...)}
		load := Load{Maps: rapid.IntRange(0, 500).Draw(t, "maps")}
		trials := NewTrials(inv, load, 3, 4, rapid.Uint64().Draw(t, "seed"))
		var windows []Window
		last := math.Inf(1)
		for range 4 {
			windows = append(windows, Window{Start: rapid.Float64Range(0, 1000).Draw(t, "start"), End: math.Inf(1), TaskSlots: rapid.IntRange(1, 50).Draw(t, "slots")})
			got := trials.Run(windows).Mean()
			if got > last*(1+1e-9) {
				t.Fatalf("%v: %g, was %g", windows, got, last)
			}
			last = got
		}
	})
}

// BenchmarkTrials evaluates one candidate: 10,000 tasks, 8 trials.
func BenchmarkTrials(b *testing.B) {
	trials := NewTrials(Invariants{Map: sketched(1, 2, 3, 5, 8)}, Load{Maps: 10_000}, 1, 8, 1)
	for _, c := range []struct {
		name  string
		slots int
	}{{"64", 64}, {"1000", 1000}, {"10000", 10000}} {
		b.Run(c.name, func(b *testing.B) {
			windows := []Window{{End: 100, TaskSlots: c.slots}, {Start: 200, End: math.Inf(1), TaskSlots: c.slots}}
			for b.Loop() {
				trials.Run(windows)
			}
		})
	}
}
