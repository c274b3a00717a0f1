package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/job"
)

// BenchmarkSnapshot makes the timeline and all free slots of 5,000 nodes with 10,000 jobs.
func BenchmarkSnapshot(b *testing.B) {
	snap := busy(5000, 5000, 5000, rand.New(rand.NewPCG(3, 4)))
	for _, view := range []struct {
		name string
		View
	}{
		{"shared", View{PerNode: job.Resources{CPUs: 8, Mem: 16 << 30}}},
		{"whole", View{PerNode: job.Resources{CPUs: 64, Mem: 256 << 30}, Whole: true}},
		{"constraint", View{PerNode: job.Resources{CPUs: 8, Mem: 16 << 30}, Constraint: "intel|new&ib"}},
	} {
		b.Run(view.name, func(b *testing.B) {
			steps, slots := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				line, _ := snap.Timeline(view.View)
				slots = len(line.Slots())
				steps = len(line.Steps())
			}
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric(float64(slots), "slots")
		})
	}
}

// busy returns a cluster with running jobs on nearly all nodes and a queue before it: jobs
// of one to 512 nodes, whole ones and such that share theirs, a third with a planned
// start, half of these with nodes, some arrays, in three partitions that overlap.
func busy(nodes, running, pending int, rng *rand.Rand) *Snapshot {
	s := &Snapshot{At: 1e18, Queue: &Queue{Partitions: []Partition{
		{Name: "main", Default: true, MaxTime: 48 * time.Hour}, {Name: "long", MaxTime: 240 * time.Hour}, {Name: "debug", MaxTime: time.Hour},
	}}}
	parts := s.Queue.Partitions
	for i := range nodes {
		n := Node{Name: fmt.Sprint("n", i), Capacity: job.Resources{CPUs: 64, Mem: 256 << 30}, Features: []string{"intel", "ib"}}
		if i%3 == 0 {
			n.Capacity, n.Features = job.Resources{CPUs: 128, Mem: 512 << 30}, []string{"amd", "new", "ib"}
		}
		if i%97 == 0 {
			n.Down = "drained: bad disk"
		}
		n.Free = n.Capacity
		s.Nodes = append(s.Nodes, n)
		for p := range parts {
			if i%(p+1) == 0 {
				parts[p].Nodes = append(parts[p].Nodes, i)
			}
		}
	}
	minutes := func(most int) time.Duration { return time.Duration(1+rng.IntN(most)) * time.Minute }
	some := func() Queued {
		j := Queued{Partition: parts[rng.IntN(3)].Name, Count: 1 << rng.IntN(4), Limit: minutes(2880), Whole: rng.IntN(4) == 0,
			PerNode: job.Resources{CPUs: 1 << rng.IntN(7), Mem: int64(1+rng.IntN(64)) << 30}}
		if rng.IntN(50) == 0 {
			j.Count = 64 << rng.IntN(4)
		}
		return j
	}
	place := func(n int) (where []int) {
		for first := rng.IntN(nodes - n); len(where) < n; first++ {
			where = append(where, first)
		}
		return where
	}
	for range running {
		j := some()
		j.Start, j.Nodes = s.At.Add(-minutes(2880)), place(j.Count)
		s.Queue.Running = append(s.Queue.Running, j)
		for _, i := range j.Nodes {
			s.Nodes[i].Free = s.Nodes[i].Free.Minus(j.PerNode)
		}
	}
	for i := range pending {
		j := some()
		if i%3 == 0 {
			j.Start = s.At.Add(minutes(1440))
		}
		if i%6 == 0 {
			j.Nodes = place(j.Count)
		}
		if i%20 == 1 {
			j.Repeat = 1 + rng.IntN(1000)
		}
		s.Queue.Pending = append(s.Queue.Pending, j)
	}
	return s
}
