package engine

import (
	"math"
	"testing"
	"time"
)

// TestOutlookAtHalf: however long an attempt runs, few expectations are kept, and the one that counts is of half of its
// time; one that was expected nothing of near that moment has none.
func TestOutlookAtHalf(t *testing.T) {
	for _, looks := range []int{2, 5, 7, 31, 32, 33, 100, 1000, 12345} {
		var o outlook
		took := time.Duration(looks) * 3 * time.Second
		for i := 1; i < looks; i++ {
			after := time.Duration(i) * 3 * time.Second
			o.add(expectation{after, took + took/2 - after}) // as much too late as half of its time is away from
		}
		if got := o.atHalf(took); math.Abs(got-1) > 1./20+0.5/float64(looks) || got == 0 || len(o) > 60 {
			t.Errorf("%d looks: %v by one of %d", looks, got, len(o))
		}
	}
	late := outlook{}
	late.add(expectation{71 * time.Second, 90 * time.Second})
	if got := late.atHalf(100 * time.Second); got != 0 {
		t.Errorf("an expectation after 71 of 100 s: %v", got)
	}
	if got := late.atHalf(120 * time.Second); got != 0.75 {
		t.Errorf("an expectation after 71 of 120 s: %v", got)
	}
	if got := late.atHalf(0); got != 0 {
		t.Errorf("an attempt that took no time: %v", got)
	}
}
