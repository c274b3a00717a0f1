package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// TestPartitions: while the default partition is full for an hour, a job of a minute runs there after it, or at once in another one: where it may
// run in any, waits in all, or asks where it starts first. A job starts again whose partition is taken by others, and one that does not let
// its nodes be taken is not there.
func TestPartitions(t *testing.T) {
	bag := func() []workload.Elastic {
		return []workload.Elastic{{ID: 1, User: 1, App: "a", Submit: job.Time(time.Second), Maps: slices.Repeat([]time.Duration{30 * time.Second}, 4)}}
	}
	fixed := job.Request{MinNodes: 2, MaxNodes: 2, MaxTime: 10 * time.Minute, WallTime: job.WallMax, MaxAllocs: 1, NoScout: true}
	in := func(r job.Request, partition string, ok bool) job.Request {
		r.Partition, r.PreemptibleOK = partition, ok
		return r
	}
	taken := []Span{{From: job.Time(40 * time.Second), For: time.Minute}}
	for name, c := range map[string]struct {
		by       Adaptor
		taken    []Span
		from, to time.Duration // the turnaround
	}{
		"default":         {Adaptor{Request: fixed}, nil, time.Hour, time.Hour + 2*time.Minute},
		"any":             {Adaptor{Request: job.Request{Partition: "any"}}, nil, time.Minute, 2 * time.Minute},
		"all":             {Adaptor{Request: in(fixed, "main,side", false), Among: AmongAll}, nil, time.Minute, 2 * time.Minute},
		"soonest":         {Adaptor{Request: in(fixed, "main,side", false), Among: AmongSoonest}, nil, time.Minute, 2 * time.Minute},
		"taken":           {Adaptor{Request: in(job.Request{}, "any", true)}, taken, 2 * time.Minute, 4 * time.Minute},
		"not preemptible": {Adaptor{Request: in(job.Request{}, "any", false)}, taken, time.Hour, time.Hour + 2*time.Minute},
	} {
		c.by.Way = Berth
		r, err := Run(context.Background(), Config{Policy: batch.CBF, Elastic: bag(), Adaptor: c.by,
			Rigid:   []workload.Rigid{{Nodes: 2, Run: time.Hour, Request: time.Hour}, {Nodes: 1, Run: 10 * time.Second, Request: 10 * time.Second, Partition: 1}},
			Cluster: Cluster{Nodes: 5, Partitions: []Partition{{Name: "main", Nodes: 2}, {Name: "side", Nodes: 3, Taken: c.taken}}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := time.Duration(r.Elastic[0].Turnaround() * float64(time.Second)); got < c.from || got > c.to || r.Elastic[0].Killed {
			t.Errorf("%s: %v, want %v to %v", name, got, c.from, c.to)
		}
		if got := r.Rigid[0].Turnaround(); got != time.Hour.Seconds() {
			t.Errorf("%s: the job of others took %v s", name, got)
		}
	}
}
