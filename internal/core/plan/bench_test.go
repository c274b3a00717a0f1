package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// busyCluster is so many nodes of 64 cores on which jobs of 1 to 64 nodes run, each for
// some hours, and for which as many wait.
func busyCluster(nodes, jobs int, rng *rand.Rand) cluster.Snapshot {
	has := job.Resources{CPUs: 64, Mem: 256 << 30}
	q := &cluster.Queue{User: "me", Grain: time.Minute}
	snap := cluster.Snapshot{Driver: "slurm", At: begin, Queue: q}
	part := cluster.Partition{Name: "main", Default: true, MaxTime: 24 * time.Hour}
	for i := range nodes {
		part.Nodes = append(part.Nodes, i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Capacity: has, Free: has})
	}
	q.Partitions = []cluster.Partition{part}
	for i := range jobs / 2 {
		n := min(1<<rng.IntN(4), nodes)
		share := job.Resources{CPUs: 1 << rng.IntN(7), Mem: 4 << 30}
		limit := time.Duration(1+rng.IntN(24*60)) * time.Minute
		run := cluster.Queued{ID: fmt.Sprint(i), User: "a", Partition: "main", Count: n, PerNode: share,
			Start: begin.Add(-time.Duration(rng.Int64N(int64(limit)))), Limit: limit}
		for range n {
			if k := rng.IntN(nodes); share.Fits(snap.Nodes[k].Free) {
				run.Nodes = append(run.Nodes, k)
				snap.Nodes[k].Free = snap.Nodes[k].Free.Minus(share)
			}
		}
		q.Running = append(q.Running, run)
		q.Pending = append(q.Pending, cluster.Queued{ID: fmt.Sprint(jobs + i), User: "b", Partition: "main", Count: 1 << rng.IntN(7),
			PerNode: job.Resources{CPUs: 1 << rng.IntN(7), Mem: 4 << 30}, Limit: time.Duration(1+rng.IntN(24*60)) * time.Minute})
	}
	return snap
}

// bagOf is a question on a bag of so many tasks, of which runs earlier runs are known,
// with tasks of 1 to 9 min.
func bagOf(tasks, runs int, rng *rand.Rand) Question {
	spec := &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}}}
	q := Question{Now: begin, Spec: spec, Counts: Counts{Tasks: tasks}, Profile: &predict.Profile{App: predict.Application(spec)}}
	for range runs {
		var c predict.Collector
		for range 200 {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Minute + time.Duration(rng.Int64N(int64(8*time.Minute))))}})
		}
		q.Profile.AddRun(predict.Size{Kind: job.Bag, Tasks: 200}, 0, c.Measures())
	}
	return q
}

// BenchmarkDecide plans a bag of 10,000 tasks on 5,000 nodes with 10,000 jobs.
func BenchmarkDecide(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	q := bagOf(10_000, 3, rng)
	q.Snap = busyCluster(5000, 10_000, rng)
	for _, c := range []struct {
		name string
		ask  job.Request
	}{{"auto", job.Request{}}, {"one", job.Request{MaxAllocs: 1}}, {"few-nodes", job.Request{MaxNodes: 16}}} {
		b.Run(c.name, func(b *testing.B) {
			q.Spec.Request = c.ask
			for b.Loop() {
				p, err := Decide(q)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(p.Outlook.Turnaround, "turnaround-s")
			}
		})
	}
}
