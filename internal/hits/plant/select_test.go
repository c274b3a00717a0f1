package plant

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// chosen reports which functions with these hits are counted.
func chosen(hits []uint64, threshold float64) []bool {
	o := objectHits{Hits: map[uint64]uint64{}}
	for at, n := range hits {
		o.Hits[uint64(at)] = n
	}
	skipped := (&statistics{Objects: map[string]*objectHits{"": &o}}).choose(threshold)
	kept := make([]bool, len(hits))
	for at := range hits {
		kept[at] = !skipped[functionID{"", uint64(at)}]
	}
	return kept
}

// TestSelect is the paper's table 1 in small: few functions above the mean have nearly all hits.
func TestSelect(t *testing.T) {
	hits := []uint64{20_000_000, 3_000_000, 9, 0, 150, 4, 40_000, 1, 0, 2}
	if got, want := chosen(hits, 1), []bool{false, false, true, true, true, true, true, true, true, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSelectAfterAShortRun: few functions were hit, so that the mean is less than one hit. Those that were hit once are selected.
func TestSelectAfterAShortRun(t *testing.T) {
	hits := []uint64{0, 1, 0, 0, 2, 0, 0, 1, 0, 0}
	if got, want := chosen(hits, 1), []bool{true, true, true, true, false, true, true, true, true, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := chosen(hits, 0); got[1] || !got[0] {
		t.Errorf("at the threshold 0, got %v", got)
	}
}

// TestSelectHolds checks for any hits that the selected functions are hit at most as often as the
// threshold, that some are selected at the mean, and that a higher threshold selects at least the
// functions of a lower one.
func TestSelectHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits := rapid.SliceOf(rapid.Uint64Range(0, 1<<40)).Draw(t, "hits")
		low := rapid.Float64Range(1, 10).Draw(t, "threshold")
		some, more := chosen(hits, low), chosen(hits, low*2)
		sum := 0.0
		for _, n := range hits {
			sum += float64(n)
		}
		for i := range hits {
			if some[i] != (float64(hits[i]) <= max(1, low*sum/float64(len(hits)))) || some[i] && !more[i] {
				t.Fatalf("%d hits of %v: kept %v at %v, %v at the double", hits[i], hits, some[i], low, more[i])
			}
		}
		if len(hits) > 0 && !slices.Contains(some, true) {
			t.Fatal("nothing is kept")
		}
		if slices.Contains(chosen(hits, math.Inf(1)), false) && sum > 0 {
			t.Fatal("an infinite threshold leaves something out")
		}
	})
}
