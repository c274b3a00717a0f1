package main

import (
	"fmt"
	"math"
	"testing"
)

// TestLeast: no workflow ends before its jobs are done on all slots, or jobs that follow each other.
func TestLeast(t *testing.T) {
	for what, want := range map[string]float64{
		fmt.Sprintf(shortJobs, 500): 500.0 / slots, fmt.Sprintf(shortJobs, 10): 3, fmt.Sprintf(longJobs, 60): 1921.0 / slots, fmt.Sprintf(longJobs, 2): 60, "berth.Executor": 0,
	} {
		if got := least(what); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s, not %g", what, got, want)
		}
	}
}
