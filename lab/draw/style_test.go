package draw

import (
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"

	"berth/lab/evaluate"
)

func labels(ticks []plot.Tick) (out []string) {
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return out
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		marks     plot.Ticker
		low, high float64
		want      []string
	}{
		{numbers{}, 0, 60, []string{"0", "20", "40", "60"}},
		{numbers{}, 0, 18000, []string{"0", "5000", "10000", "15000"}},
		{numbers{}, 0, 0.3, []string{"0", "0.1", "0.2", "0.3"}},
		{powers{}, 50, 20000, []string{"100", "1000", "10000"}},
		{powers{}, 100, 5000, []string{"100", "200", "500", "1000", "2000", "5000"}},
		{named{"a", "b"}, 0, 9, []string{"a", "b"}},
	} {
		if got := labels(tt.marks.Ticks(tt.low, tt.high)); !slices.Equal(got, tt.want) {
			t.Errorf("%T from %g to %g: %q, want %q", tt.marks, tt.low, tt.high, got, tt.want)
		}
	}
}

// TestTicksAreFew checks that any range has enough ticks and not too many.
func TestTicksAreFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		high := rapid.Float64Range(1e-3, 1e7).Draw(t, "high")
		if n := len(numbers{}.Ticks(0, high)); n < 4 || n > 9 {
			t.Fatalf("%d ticks up to %g", n, high)
		}
		low, up := roundBelow(high), roundAbove(high)
		if low > high*(1+slack) || up < high*(1-slack) || up > 5.001*low {
			t.Fatalf("%g lies between %g and %g", high, low, up)
		}
	})
}

// TestStylesDiffer checks that each case has a colour of its own and, except for the bound, a
// marker.
func TestStylesDiffer(t *testing.T) {
	seen := map[any]bool{}
	for _, c := range evaluate.Cases() {
		s := styleOf(c.Name)
		if seen[s.color] {
			t.Errorf("%s has another's colour", c.Name)
		}
		seen[s.color] = true
		if (s.marker == nil) != (c.Name == evaluate.BoundCase) || s.dashed != (c.Name == evaluate.BoundCase) {
			t.Errorf("%s: %+v", c.Name, s)
		}
	}
	if len(styles) != len(evaluate.Cases()) {
		t.Errorf("%d styles of %d cases", len(styles), len(evaluate.Cases()))
	}
}
