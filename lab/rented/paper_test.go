package rented

import (
	"math"
	"slices"
	"testing"
)

// TestFigures: what the paper says of its figures holds with a c1.m that is slower than an m1.m, whose use by one task it does not tell: 30
// machines of any type saturate the server for ImageMagick, of m1.m alone for OpenJpeg; MVA is close, and so is the simple estimate on the front;
// the fronts tip near $1 and $1.5.
func TestFigures(t *testing.T) {
	r := Evaluate(Settings[2])
	for i, want := range []struct {
		tipping   float64
		saturated []bool
	}{{1, []bool{true, true, true}}, {1.5, []bool{false, true, false}}} {
		a := r.Apps[i]
		if !a.Equal || math.Abs(a.Tipping-want.tipping) > 0.15 || len(a.Schedules) != 4 {
			t.Errorf("%+v", a)
		}
		for j, row := range a.Large {
			if saturated := row.MVA > saturates*row.Simple; saturated != want.saturated[j] || math.Abs(row.MVA/row.Executed-1) > 0.05 {
				t.Errorf("%s: %+v", a.Name, row)
			}
		}
		for _, row := range a.Schedules {
			if math.Abs(row.MVA/row.Executed-1) > 0.05 || math.Abs(row.Simple/row.Executed-1) > 0.06 {
				t.Errorf("%s: %+v", a.Name, row)
			}
		}
	}
}

// TestSpaced: the cheapest, the tipping point, and points that divide the cost between them, whatever is beyond.
func TestSpaced(t *testing.T) {
	for _, tt := range []struct {
		costs   []float64
		tipping int
		want    []int
	}{
		{[]float64{1, 1.1, 1.2, 2, 3.1, 4, 9, 20}, 5, []int{0, 3, 4, 5}},
		{[]float64{1, 4, 9}, 1, []int{0, 0, 1, 1}},
		{[]float64{1}, 0, []int{0, 0, 0, 0}},
	} {
		if got := Spaced(tt.costs, tt.tipping, 4); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.costs, got, tt.want)
		}
	}
}
