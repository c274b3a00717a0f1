package predict

import (
	"math"
	"reflect"
	"testing"
)

// TestEnds: errors of expected ends are counted by whole percents, rounded away from 0, so that an attempt counts as near only if it was;
// what nothing was expected of counts nowhere, and the most wrong ones together.
func TestEnds(t *testing.T) {
	var c Collector
	for _, expected := range []float64{1, 0, 1.1, 1.1000001, 0.9, 0.95, 0.954, 3, 7, math.MaxFloat64, 1e-9} {
		c.AddEnd(expected)
	}
	want := Ends{{-200, 3}, {-11, 1}, {-10, 1}, {0, 1}, {5, 2}, {10, 1}, {100, 1}}
	if got := c.Ends(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var sum Ends
	sum.Merge(want)
	sum.Merge(Ends{{-11, 2}, {7, 1}})
	if want := (Ends{{-200, 3}, {-11, 3}, {-10, 1}, {0, 1}, {5, 2}, {7, 1}, {10, 1}, {100, 1}}); !reflect.DeepEqual(sum, want) {
		t.Errorf("got %v, want %v", sum, want)
	}
}
