package sched

import "testing"

// TestNothingSharedIsFree: jobs whose tasks use nothing that all share cost no memory in a pass.
func TestNothingSharedIsFree(t *testing.T) {
	s, p, c := NewScarce(), &Pool{}, &Candidate{}
	s.SetLimits(map[string]int{"x": 1})
	if n := testing.AllocsPerRun(100, func() { s.Short(c); s.Review(p, 0) }); n > 0 {
		t.Errorf("a pass allocates %v times", n)
	}
}
