package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestIndexSetRange: a range of indices is what its indices are one by one, whatever the set had before.
func TestIndexSetRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got, want IndexSet
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			first := rapid.IntRange(0, 300).Draw(t, "first")
			last := first - 1 + rapid.IntRange(0, 200).Draw(t, "n")
			got.AddRange(first, last)
			for i := first; i <= last; i++ {
				want.Add(i)
			}
		}
		if a, b := all(got), all(want); !slices.Equal(a, b) {
			t.Fatalf("%v, want %v", a, b)
		}
	})
}

func all(s IndexSet) (list []int) {
	s.All(func(i int) { list = append(list, i) })
	return list
}
