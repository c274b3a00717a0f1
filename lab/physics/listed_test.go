package physics

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestListed: tasks begin on the slot that is free first.
func TestListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 100).Draw(t, "durations")
		free := make([]float64, rapid.IntRange(1, 9).Draw(t, "slots"))
		last, ends := listed(durations, len(free))
		want, begin := []float64{}, 0.0
		for _, d := range durations {
			i := slices.Index(free, slices.Min(free))
			begin = free[i]
			free[i] += d
			want = append(want, free[i])
		}
		if !slices.Equal(ends, want) || last != begin {
			t.Fatalf("ends %v, the last begins at %g; want %v, %g", ends, last, want, begin)
		}
	})
}
