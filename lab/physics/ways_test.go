package physics

import (
	"context"
	"testing"
	"time"

	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// TestNarrow: requests of one node each take the nodes that are free, where one request for all of them waits.
func TestNarrow(t *testing.T) {
	e := workload.Elastic{ID: 1, User: 1, App: "bag", Submit: 1, Maps: make([]time.Duration, 12)}
	for i := range e.Maps {
		e.Maps[i] = 10 * time.Second
	}
	for _, c := range []struct {
		way              sim.Adaptor
		wait, turnaround float64
	}{{Narrow(), 0, 40}, {sim.Adaptor{Way: sim.Naive}, 100, 130}} {
		r, err := sim.Run(context.Background(), sim.Config{Cluster: sim.Cluster{Nodes: 4, MaxTime: time.Hour}, Policy: batch.CBF, Elastic: []workload.Elastic{e},
			Rigid: []workload.Rigid{{ID: 1, User: -1, Nodes: 1, Run: 100 * time.Second, Request: 100 * time.Second}}, Adaptor: c.way})
		if err != nil {
			t.Fatal(err)
		}
		if o := r.Elastic[0]; int(o.Wait()+0.5) != int(c.wait) || int(o.Turnaround()+0.5) != int(c.turnaround) {
			t.Errorf("begins after %v s, done after %v s, want %v and %v", o.Wait(), o.Turnaround(), c.wait, c.turnaround)
		}
	}
}
