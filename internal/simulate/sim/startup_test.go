package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"berth/internal/simulate/batch"
)

// TestSlowStartUp checks that no job fails because workers start later than the plan assumes, on a
// busy cluster where the last tasks get barely sufficient allocations.
func TestSlowStartUp(t *testing.T) {
	for _, startUp := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute} {
		t.Run(fmt.Sprint(startUp), func(t *testing.T) {
			t.Parallel()
			r, err := Run(context.Background(), Config{
				Cluster: Cluster{Nodes: 64, MaxTime: 18 * time.Hour, StartUp: startUp},
				Policy:  batch.CBF, Adaptor: Adaptor{Way: Berth}, Seed: 1,
				Elastic: mix(150, 30*time.Second, 2), Rigid: hpc(100, 64, 300*time.Second, 2),
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range r.Elastic {
				if o.Killed {
					t.Errorf("the job at %d has failed after %d allocations", i, o.Allocs)
				}
			}
		})
	}
}
