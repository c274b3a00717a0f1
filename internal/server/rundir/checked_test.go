package rundir

import (
	"context"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
)

// oracle is a batch system with prepared answers to requests.
type oracle struct {
	start job.Time
	err   error
	asked int
}

func (o *oracle) Test(context.Context, job.AllocRequest) (job.Time, error) {
	o.asked++
	return o.start, o.err
}

// TestPlanChecked: a start that is much later than the queue shows leads to another plan, but not while jobs are pending,
// when the answer means nothing; a refusal always does.
func TestPlanChecked(t *testing.T) {
	const now = job.Time(1e18)
	hour := now.Add(time.Hour)
	refused := &job.Error{Class: job.User, What: "no"}
	for _, tt := range []struct {
		name    string
		pending []cluster.Queued
		oracle  oracle
		again   bool
		fails   bool
	}{
		{"at once", nil, oracle{start: now}, false, false},
		{"late", nil, oracle{start: hour}, true, false},
		{"late while a job waits", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Limit: time.Minute}}, oracle{start: hour}, false, false},
		{"late while a job is held", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Held: "by its user"}}, oracle{start: hour}, true, false},
		{"refused while a job waits", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Limit: time.Minute}}, oracle{err: refused}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := job.New(job.Bag, t.TempDir())
			spec.Bag.Command, spec.Request.On = []string{"true"}, "slurm"
			spec.Normalize()
			has := job.Resources{CPUs: 2, Mem: 4 << 30}
			snap := cluster.Snapshot{Driver: "slurm", At: now, Nodes: []cluster.Node{{Name: "n1", Capacity: has, Free: has}, {Name: "n2", Capacity: has, Free: has}},
				Queue: &cluster.Queue{Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, Nodes: []int{0, 1}}}, Pending: tt.pending}}
			q := plan.Question{Now: now, Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: 4}}
			_, err := PlanChecked(t.Context(), q, &tt.oracle)
			if again := tt.oracle.asked > 1; again != tt.again || (err != nil) != tt.fails {
				t.Errorf("asked %d times, error %v", tt.oracle.asked, err)
			}
		})
	}
}
