package batch

import (
	"math"
	"testing"
	"time"
)

// TestEASYReference compares means with those of an independent simulator.
func TestEASYReference(t *testing.T) {
	for _, c := range []struct {
		policy     Policy
		exact      bool
		wait, bsld float64 // mean wait in seconds, AVEbsld
	}{
		{EASY, true, 17330.03, 70.41},
		{EASY, false, 20494.74, 87.83},
		{EASYSJBF, false, 20790.63, 84.84},
	} {
		jobs := sdsc(t, c.exact)
		wait, bsld := 0.0, 0.0
		for i, at := range Replay(128, c.policy, jobs) {
			w, run := at.Sub(jobs[i].Submit).Seconds(), jobs[i].Run.Seconds()
			wait += w / float64(len(jobs))
			bsld += max(1, (w+run)/max(run, 10)) / float64(len(jobs))
		}
		t.Logf("%s: %.2f s, %.2f", c.policy, wait, bsld)
		if math.Abs(wait/c.wait-1) > 0.0005 || math.Abs(bsld/c.bsld-1) > 0.002 {
			t.Errorf("%s: mean wait %.2f s, AVEbsld %.2f; want %.2f and %.2f", c.policy, wait, bsld, c.wait, c.bsld)
		}
	}
}

// TestCancelledBeforeStart: jobs that come and go at one instant leave no trace.
func TestCancelledBeforeStart(t *testing.T) {
	for _, p := range Policies {
		s := New(2, p)
		for id := range ID(20) {
			s.Submit(0, id, 1, time.Hour)
			if id < 19 {
				s.Cancel(0, id)
			}
		}
		if ids := s.Start(0, nil); len(ids) != 1 || ids[0] != 19 {
			t.Errorf("%s starts %v, want 19", p, ids)
		}
	}
}
