package timeline

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// reference is a timeline as an array of the values at each time from 0 on. The last value continues.
type reference struct {
	from   job.Time
	values []int
}

func newReference(span, free int) *reference {
	return &reference{values: slices.Repeat([]int{free}, span+1)}
}

func (w *reference) span() job.Time { return job.Time(len(w.values) - 1) }

func (w *reference) at(t job.Time) int { return w.values[min(max(t, w.from), w.span())] }

func (w *reference) add(from, to job.Time, n int) {
	for t := max(from, 0); t < to && t <= w.span(); t++ {
		w.values[t] += n
	}
}

func (w *reference) min(from, to job.Time) int {
	from = max(from, w.from)
	least := w.at(from)
	for t := from; t < to && t <= w.span(); t++ {
		least = min(least, w.at(t))
	}
	return least
}

func (w *reference) max(from, to job.Time) int {
	from = max(from, w.from)
	most := w.at(from)
	for t := from; t < to && t <= w.span(); t++ {
		most = max(most, w.at(t))
	}
	return most
}

// earlierFit is earliestFit for a reservation that begins at before.
func (w *reference) earlierFit(from, before job.Time, nodes int, d time.Duration) (job.Time, bool) {
	c := &reference{w.from, slices.Clone(w.values)}
	c.add(before, After(before, max(d, 1)), nodes+100)
	at, ok := c.earliestFit(from, nodes, d)
	return at, ok && at < before
}

func (w *reference) earliestFit(from job.Time, nodes int, d time.Duration) (job.Time, bool) {
	start := max(from, w.from)
	end := max(start, w.span()) // the values are constant after it
	for t := start; t <= end && t < After(start, max(d, 1)); t++ {
		if w.at(t) < nodes {
			start = t + 1
		}
	}
	return start, start <= end
}

func (w *reference) steps() []Step {
	steps := []Step{{w.from, w.at(w.from)}}
	for t := w.from; t <= w.span(); t++ {
		if steps[len(steps)-1].Free != w.at(t) {
			steps = append(steps, Step{t, w.at(t)})
		}
	}
	return steps
}

// slots returns all rectangles of a start, an end and the smallest value between them that no other
// rectangle contains.
func (w *reference) slots() []Slot {
	steps := w.steps()
	var all []Slot
	for i, s := range steps {
		for k := i + 1; k <= len(steps); k++ {
			end, d := Never, Unbounded
			if k < len(steps) {
				end = steps[k].Start
				d = end.Sub(s.Start)
			}
			if n := w.min(s.Start, end); n > 0 {
				all = append(all, Slot{s.Start, n, d})
			}
		}
	}
	var slots []Slot
	for _, s := range all {
		if !slices.ContainsFunc(all, func(o Slot) bool { return o != s && contains(o, s) }) {
			slots = append(slots, s)
		}
	}
	slices.SortFunc(slots, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Nodes, b.Nodes))
	})
	return slots
}

func contains(o, s Slot) bool { return o.Start <= s.Start && o.End() >= s.End() && o.Nodes >= s.Nodes }

// TestTimelineReference applies the same operations to a timeline and to an array, and compares all
// queries.
func TestTimelineReference(t *testing.T) {
	const span = 60
	instant := rapid.Custom(func(t *rapid.T) job.Time {
		if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
			return Never
		}
		return job.Time(rapid.IntRange(-2, span).Draw(t, "at"))
	})
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.IntRange(-3, 20).Draw(t, "free")
		line, dumb := New(0, free), newReference(span, free)
		line.short = rapid.SampledFrom([]int{0, 512}).Draw(t, "short")
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				from, to, n := instant.Draw(t, "from"), instant.Draw(t, "to"), rapid.IntRange(-5, 5).Draw(t, "n")
				line.Add(from, to, n)
				dumb.add(from, to, n)
			},
			"advance": func(t *rapid.T) {
				now := min(instant.Draw(t, "now"), line.From()+3, span)
				line.Advance(now)
				dumb.from = max(dumb.from, now)
			},
			"clone": func(t *rapid.T) {
				old := line
				line = line.Clone()
				old.Add(instant.Draw(t, "from"), Never, 1)
				old.Advance(10)
			},
			"": func(t *rapid.T) {
				sound(t, line)
				if got, want := line.Steps(), dumb.steps(); !slices.Equal(got, want) {
					t.Fatalf("steps are\n%v, want\n%v", got, want)
				}
				if got, want := line.Slots(), dumb.slots(); !slices.Equal(got, want) {
					t.Fatalf("slots of %v are\n%v, want\n%v", line.Steps(), got, want)
				}
				q := question{instant.Draw(t, "a"), instant.Draw(t, "b"), rapid.IntRange(-5, 25).Draw(t, "nodes")}
				q.compare(t, line, dumb)
			},
		})
	})
}

// question is a query with its arguments.
type question struct {
	a, b  job.Time
	nodes int
}

func (q question) compare(t rapid.TB, line *Timeline, dumb *reference) {
	t.Helper()
	if got, want := line.At(q.a), dumb.at(q.a); got != want {
		t.Fatalf("%d free at %d, want %d: %v", got, q.a, want, near(line, q.a))
	}
	if got, want := line.Min(q.a, q.b), dumb.min(q.a, q.b); got != want {
		t.Fatalf("at least %d free in %d … %d, want %d: %v", got, q.a, q.b, want, near(line, q.a))
	}
	if got, want := line.Max(q.a, q.b), dumb.max(q.a, q.b); got != want {
		t.Fatalf("at most %d free in %d … %d, want %d: %v", got, q.a, q.b, want, near(line, q.a))
	}
	q.compareEarlier(t, line, dumb)
	for _, d := range []time.Duration{0, 1, time.Duration(max(q.b, 0)), time.Duration(max(q.b/2, 0))} {
		from := min(q.a, dumb.span())
		if d > 1 { // what begins at the beginning is remembered
			from = line.From()
		}
		got, ok := line.EarliestFit(from, q.nodes, d)
		want, wantOK := dumb.earliestFit(from, q.nodes, d)
		if ok != wantOK || (ok && got != want) {
			t.Fatalf("%d nodes for %d fit from %d on at %d (%v), want %d (%v): %v",
				q.nodes, d, from, got, ok, want, wantOK, near(line, from))
		}
	}
}

// near returns some steps from an instant on.
func near(line *Timeline, at job.Time) []Step {
	c := line.Clone()
	c.Advance(at)
	return c.Steps()[:min(50, len(c.Steps()))]
}

// TestTimelineOfManySteps adds and removes thousands of steps.
func TestTimelineOfManySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		span, longest := rapid.IntRange(100, 8000).Draw(t, "span"), rapid.IntRange(2, 300).Draw(t, "longest")
		line, dumb := New(0, 50), newReference(span, 50)
		line.short = rapid.SampledFrom([]int{0, 512}).Draw(t, "short")
		add := func(from, to job.Time, n int) {
			line.Add(from, to, n)
			dumb.add(from, to, n)
		}
		for _, many := range []int{10, 2, 30, 3, 1, 5} {
			for range span / many {
				from := job.Time(rng.Int64N(int64(span)))
				add(from, min(from+1+job.Time(rng.IntN(longest)), dumb.span()), rng.IntN(many)-many/3)
			}
			check(t, line, dumb, rng)
			flatten(line.Steps(), 2+rng.IntN(40), add)
			check(t, line, dumb, rng)
			now := dumb.from + (dumb.span()-dumb.from)/job.Time(2+rng.IntN(9))
			line.Advance(now)
			dumb.from = now
			check(t, line, dumb, rng)
		}
	})
}

// flatten sets all steps except every n-th to the height of the step before.
func flatten(steps []Step, every int, add func(from, to job.Time, n int)) {
	level := steps[0].Free
	for i, s := range steps[:len(steps)-1] {
		if i%every == 0 {
			level = s.Free
		}
		add(s.Start, steps[i+1].Start, level-s.Free)
	}
}

func check(t rapid.TB, line *Timeline, dumb *reference, rng *rand.Rand) {
	t.Helper()
	sound(t, line)
	got, want := line.Steps(), dumb.steps()
	if !slices.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Fatalf("step %d is %v, want %v", i, got[i], want[i])
	}
	for range 5 {
		a := job.Time(rng.Int64N(int64(dumb.span())))
		question{a, job.Time(1) << rng.IntN(14), rng.IntN(120) - 30}.compare(t, line, dumb)
	}
}

// sound fails unless the steps are ordered and neighbours differ.
func sound(t rapid.TB, line *Timeline) {
	t.Helper()
	steps := line.Steps()
	for i, s := range steps[1:] {
		if s.Start <= steps[i].Start || s.Free == steps[i].Free {
			t.Fatalf("step %+v after %+v", s, steps[i])
		}
	}
}

// TestEarliestFitRemembers reserves earliest fits, as conservative backfilling does, and frees parts
// of them. An earlier search must not hide what fits again.
func TestEarliestFitRemembers(t *testing.T) {
	const nodes, span = 10, 2000
	type held struct {
		from, to job.Time
		n        int
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		line, dumb := New(0, nodes), newReference(span, nodes)
		line.short = 0
		often := rapid.SampledFrom([]int{5, 40}).Draw(t, "often")
		var all []held
		for range 150 {
			n, d := 1+rng.IntN(nodes), time.Duration(1+rng.IntN(20))
			at, _ := line.EarliestFit(line.From(), n, d)
			if want, _ := dumb.earliestFit(dumb.from, n, d); at != want {
				t.Fatalf("%d nodes for %d fit at %d, want %d: %v", n, d, at, want, near(line, line.From()))
			}
			if After(at, d) < span {
				line.Add(at, After(at, d), -n)
				dumb.add(at, After(at, d), -n)
				all = append(all, held{at, After(at, d), n})
			}
			if i := rng.IntN(len(all)); rng.IntN(often) == 0 {
				h := &all[i]
				h.from += job.Time(rng.IntN(2)) * job.Time(rng.Int64N(int64(h.to-h.from)+1))
				line.Add(h.from, h.to, h.n)
				dumb.add(h.from, h.to, h.n)
				h.to = h.from
			}
			if rng.IntN(4) == 0 {
				dumb.from += job.Time(rng.IntN(10))
				line.Advance(dumb.from)
			}
		}
	})
}

// compareEarlier compares to where a reservation can move.
func (q question) compareEarlier(t rapid.TB, line *Timeline, dumb *reference) {
	t.Helper()
	for _, d := range []time.Duration{0, 3, 20, 500} {
		for _, before := range []job.Time{0, q.a, min(q.a, Never-10) + 10, q.b} {
			from := min(q.a, dumb.span()) / 2
			got, ok := line.EarlierFit(from, before, q.nodes, d)
			want, wantOK := dumb.earlierFit(from, before, q.nodes, d)
			if ok != wantOK || (ok && got != want) {
				t.Fatalf("%d nodes for %d, reserved at %d, fit from %d on at %d (%v), want %d (%v): %v",
					q.nodes, d, before, from, got, ok, want, wantOK, near(line, from))
			}
		}
	}
}
