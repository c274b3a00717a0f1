package batch

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLows compares a row with its values.
func TestLows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, span, span + 1, 300, 5000}).Draw(t, "n")
		l := newLows(n)
		row := slices.Repeat([]int64{absent}, len(l.levels[0]))
		if len(row) < n {
			t.Fatalf("%d places, want %d", len(row), n)
		}
		value := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Just(int64(absent)))
		place := rapid.IntRange(0, len(row)-1)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			i, v := place.Draw(t, "i"), value.Draw(t, "v")
			l.set(i, v)
			row[i] = v
			if got := l.min(); got != slices.Min(row) {
				t.Fatalf("the least is %d, want %d", got, slices.Min(row))
			}
			from, most := rapid.IntRange(0, len(row)).Draw(t, "from"), rapid.Int64Range(-1, 6).Draw(t, "most")
			want := slices.IndexFunc(row[from:], func(v int64) bool { return v <= most })
			if want >= 0 {
				want += from
			}
			if got := l.next(from, most); got != want {
				t.Fatalf("the next from %d of at most %d is at %d, want %d", from, most, got, want)
			}
			if got, want := l.before(from), slices.Min(append(row[:from:from], absent)); got != want {
				t.Fatalf("the least of the first %d is %d, want %d", from, got, want)
			}
		}
	})
}

// TestIndex compares an index with the list of its jobs.
func TestIndex(t *testing.T) {
	type entry struct {
		turn  int64
		nodes int
		d     int64
	}
	rapid.Check(t, func(t *rapid.T) {
		var l line
		x := newIndex(&l, rapid.SampledFrom([]int{1, 40, 5000}).Draw(t, "nodes"))
		most := rapid.SampledFrom([]int{61, 1000, 5003, 70000}).Draw(t, "most")
		var all []entry
		search := func(nodes int, d int64, few int, shortest bool) int64 {
			best := entry{turn: noTurn, d: absent}
			for _, e := range all {
				if e.nodes > nodes || e.d > d && e.nodes > few {
					continue
				}
				if best.turn == noTurn || shortest && e.d < best.d {
					best = e
				}
			}
			return best.turn
		}
		keep := rapid.IntRange(0, 300).Draw(t, "keep")
		for id := range ID(rapid.IntRange(1, 800).Draw(t, "steps")) {
			e := entry{l.end(), int(id)*7919%most + 1, int64(id * 104729 % 97)}
			l.push(id)
			x.add(e.turn, e.nodes, e.d)
			all = append(all, e)
			if len(all) > keep {
				i := int(id*31) % len(all)
				x.remove(all[i].turn, all[i].nodes)
				l.remove(all[i].turn)
				all = slices.Delete(all, i, i+1)
			}
			nodes, d := int(id)*1721%(most+3), int64(id*13)%100
			few := min(nodes, int(id)*1103%(most+3))
			if got, want := x.first(nodes, d, few), search(nodes, d, few, false); got != want {
				t.Fatalf("the first is %d, want %d", got, want)
			}
			if got, want := x.shortest(nodes, d, few), search(nodes, d, few, true); got != want {
				t.Fatalf("the shortest is %d, want %d", got, want)
			}
			if got, want := x.any(nodes), search(nodes, absent, 0, false) != noTurn; got != want {
				t.Fatalf("there is one of %d nodes at most: %v, want %v", nodes, got, want)
			}
			if id := l.wait(e.turn).id; id != gone && l.turns[id] != e.turn {
				t.Fatalf("job %d has turn %d, want %d", id, l.turns[id], e.turn)
			}
		}
	})
}
