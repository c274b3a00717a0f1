package plan

import (
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// TestSharedLimits: all requests of one plan together, in whatever partition, keep to the limits of an account after
// its running jobs.
func TestSharedLimits(t *testing.T) {
	const at = job.Time(1000)
	spec := &job.Spec{ID: "bag-1", Name: "x", Kind: job.Bag, Request: job.Request{Partition: "a,b"},
		Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}, MaxFails: -1}}
	prof := &predict.Profile{App: predict.Application(spec)}
	var c predict.Collector
	for range 200 {
		c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Minute)}})
	}
	prof.AddRun(predict.Size{Kind: job.Bag, Tasks: 200}, 0, c.Measures())
	for _, want := range []struct {
		limit   int64 // on the cores of the account; 0: none
		running int   // cores of the account that another job uses
		least   int   // cores that are requested at once at least
		most    int
	}{{0, 0, 16, 16}, {12, 0, 5, 12}, {12, 4, 4, 8}, {12, 10, 1, 2}} {
		snap := twoPartitions(at)
		snap.Queue.Accounting = &cluster.Accounting{Associations: []cluster.Association{{Account: "main", Default: true}}, Accounts: []cluster.Account{{Name: "main", CPUs: want.limit}}}
		if want.running > 0 { // on nodes that are in none of the partitions
			snap.Queue.Running = []cluster.Queued{{ID: "7", User: "her", Account: "main", Count: 1, PerNode: job.Resources{CPUs: want.running}, Start: at, Limit: 100 * time.Hour}}
		}
		p, err := Decide(Question{Now: at, Snap: snap, Spec: spec, Counts: Counts{Tasks: 300}, Profile: prof})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, r := range p.Requests() {
			if r.Start <= at {
				sum += r.Nodes * r.PerNode.CPUs
			}
		}
		if sum < want.least || sum > want.most {
			t.Errorf("a limit of %d cores of which %d are used: %d are requested: %+v", want.limit, want.running, sum, p.Requests())
		}
	}
}
