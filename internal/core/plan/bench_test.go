package plan

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/starts"
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

// movingCluster is so many nodes of 16 cores, all of them busy with jobs of one node, before which so many jobs wait, and a week's
// history of jobs of the same 200 users. Limits are up to a day, and users use different parts of them.
func movingCluster(nodes, pending int, rng *rand.Rand) (cluster.Snapshot, *starts.Past) {
	past := 4 * nodes
	has := job.Resources{CPUs: 16, Mem: 64 << 30}
	some := func() (q cluster.Queued, run time.Duration) {
		user := rng.IntN(200)
		q = cluster.Queued{User: fmt.Sprint("u", user), Partition: "main", Count: 1, PerNode: has, Limit: time.Duration(1+rng.IntN(48)) * 30 * time.Minute}
		if rng.IntN(10) == 0 {
			q.Count = 1 << rng.IntN(9)
		}
		return q, time.Duration(float64(q.Limit) * min(1, 0.05+rng.Float64()*float64(1+user%10)/8))
	}
	part := cluster.Partition{Name: "main", Default: true}
	queue := &cluster.Queue{User: "me", Grain: time.Minute, Depth: 500}
	snap := cluster.Snapshot{Driver: "slurm", At: begin, Queue: queue}
	for i := range nodes {
		part.Nodes = append(part.Nodes, i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Capacity: has})
		j, run := some()
		j.ID, j.Count, j.Nodes, j.Start = fmt.Sprint(i), 1, []int{i}, begin.Add(-time.Duration(rng.Float64()*float64(run)))
		queue.Running = append(queue.Running, j)
	}
	for i := range pending {
		j, _ := some()
		j.ID = fmt.Sprint(nodes + i)
		queue.Pending = append(queue.Pending, j)
	}
	queue.Partitions = []cluster.Partition{part}
	h := &starts.History{Since: begin.Add(-starts.Kept)}
	for i := range past {
		at := h.Since.Add(starts.Kept / time.Duration(past) * time.Duration(i))
		j, run := some()
		s := starts.Job{User: cluster.Number(j.User), Nodes: int32(j.Count), Limit: j.Limit}
		h.Arrived = append(h.Arrived, starts.Arrived{Job: s, At: at})
		h.Ended = append(h.Ended, starts.Ended{Job: s, At: at, Run: run})
	}
	return snap, starts.NewPast(h, begin)
}

// BenchmarkDecideMoving plans a bag of 3,000 tasks of about 507 s by the history of a full cluster of 5,000 nodes, with 500 and
// 5,000 waiting jobs.
func BenchmarkDecideMoving(b *testing.B) {
	for _, pending := range []int{500, 5000} {
		b.Run(fmt.Sprint(pending), func(b *testing.B) {
			spec := &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}}}
			q := Question{Now: begin, Spec: spec, Counts: Counts{Tasks: 3000}, Profile: profileOf(spec, 507)}
			q.Snap, q.Past = movingCluster(5000, pending, rand.New(rand.NewPCG(3, 4)))
			b.ReportAllocs()
			before := processor(b)
			for b.Loop() {
				p, err := Decide(q)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(p.Outlook.Turnaround, "turnaround-s")
			}
			b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// processor returns the processor time of the process, which other load on the machine lengthens less than the time that passes.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
