package predict

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSinglyIsListScheduling: tasks, also more than are placed in bulk, begin on the slot that
// is free first.
func TestSinglyIsListScheduling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 7, 40, 2 * bulkTail}).Draw(t, "tasks")
		durations := genSeries(t, min(n, 100), "durations")
		for len(durations) < n {
			durations = append(durations, durations[len(durations)-7])
		}
		free := make([]float64, rapid.IntRange(1, 9).Draw(t, "slots"))
		last, ends := NewSeries(durations).Singly(len(free))
		want, begin := []float64{}, 0.0
		for _, d := range durations {
			i := slices.Index(free, slices.Min(free))
			begin = free[i]
			free[i] += d
			want = append(want, free[i])
		}
		if !slices.Equal(ends, want) || n > 0 && last != begin {
			t.Fatalf("ends %v, the last begins at %g; want %v, %g", ends, last, want, begin)
		}
	})
}
