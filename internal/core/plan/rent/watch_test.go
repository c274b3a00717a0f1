package rent

import (
	"math"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestWatch: attempts count where they run, times of those that are done by type, and nodes of others do not.
func TestWatch(t *testing.T) {
	kinds := map[job.NodeID]int{"a1/0": 0, "a1/1": 1}
	kind := func(n job.NodeID) int {
		if k, is := kinds[n]; is {
			return k
		}
		return -1
	}
	w := NewWatch(job.PhaseCompute)
	attempt := func(i int) job.Attempt { return job.Attempt{Job: "bag-1", Task: i, N: 1} }
	for i, node := range []job.NodeID{"a1/0", "a1/0", "a1/1", "a9/0"} {
		w.Observe(event.AttemptStarted{Attempt: attempt(i), Node: node}, kind)
	}
	if w.Running("a1/0") != 2 || w.Running("a1/1") != 1 || w.Running("a9/0") != 0 {
		t.Errorf("%+v", w.runs)
	}
	stats := []job.PhaseStat{{Phase: job.PhaseFetch, Start: 1, NetBytes: 70, End: job.Time(time.Second)}, {Phase: job.PhaseCompute, Start: job.Time(time.Second), End: job.Time(21 * time.Second)}}
	w.Observe(event.AttemptEnded{Attempt: attempt(0), Outcome: event.Done, Stats: stats}, kind)
	w.Observe(event.AttemptEnded{Attempt: attempt(1), Outcome: event.Failed, Stats: stats}, kind)
	delete(kinds, "a1/1") // its machine is gone
	w.Observe(event.AttemptEnded{Attempt: attempt(2), Outcome: event.Lost}, kind)
	w.Observe(event.AttemptEnded{Attempt: attempt(3), Outcome: event.Done, Stats: stats}, kind)
	if w.Moved() != 70 {
		t.Errorf("%g bytes moved", w.Moved())
	}
	if w.Spread() != usual {
		t.Errorf("spread %g of one task", w.Spread())
	}
	for i, ms := range []int{10, 20, 30, 40} { // with the 20 s above: mean 24 s, standard deviation 11.4 s
		w.Observe(event.AttemptStarted{Attempt: attempt(10 + i), Node: "a1/0"}, kind)
		w.Observe(event.AttemptEnded{Attempt: attempt(10 + i), Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(ms) * job.Time(time.Second)}}}, kind)
	}
	if got := w.Spread(); math.Abs(got-0.475) > 0.001 {
		t.Errorf("spread %g", got)
	}
	if len(w.runs) != 0 || len(w.on) != 0 {
		t.Errorf("%+v", w)
	}
	if got := []float64{w.Task(0, 0), w.Task(0, 8), w.Task(1, 8), w.Task(1, 0)}; got[0] != 24 || got[1] != 16 || got[2] != 8 || got[3] != 0 {
		t.Errorf("%v", got)
	}
}
