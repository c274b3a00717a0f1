package batch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestSnapshot checks that a snapshot of nodes and queue, from which plans are made on a real
// cluster, gives the same timeline as the simulated batch system itself.
func TestSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		l := &lot{sys: New(1+random.IntN(30), CBF), where: map[ID][]int{}}
		for i := range l.sys.Nodes() {
			l.free = append(l.free, i)
		}
		now := job.Time(time.Hour)
		for range 60 {
			now = l.instant(now, random)
			snap := l.snapshot(now)
			got, facts := snap.Timeline(cluster.View{})
			if want := l.sys.Timeline(now).Steps(); !slices.Equal(got.Steps(), want) || facts.Unplaced > 0 {
				t.Fatalf("at %d of %d nodes the snapshot has %v, %d not placed, and the system %v",
					now, l.sys.Nodes(), got.Steps(), facts.Unplaced, want)
			}
		}
	})
}

// lot is a batch system and the nodes of its jobs.
type lot struct {
	sys   *System
	where map[ID][]int
	free  []int
	jobs  ID
}

// instant ends some of the jobs, and submits and starts others.
func (l *lot) instant(now job.Time, random *rand.Rand) job.Time {
	now = min(now+job.Time(random.IntN(9)), l.sys.Next())
	for e := range l.sys.Running() {
		now = min(now, after(e.Start, e.Limit))
	}
	for _, e := range slices.Collect(l.sys.Running()) {
		if after(e.Start, e.Limit) == now || random.IntN(9) == 0 {
			l.sys.End(now, e.ID)
			l.free = append(l.free, l.where[e.ID]...)
			delete(l.where, e.ID)
		}
	}
	for range random.IntN(4) {
		l.sys.Submit(now, l.jobs, 1+random.IntN(l.sys.Nodes()), time.Duration(1+random.IntN(40)))
		l.jobs++
	}
	for _, id := range l.sys.Start(now, nil) {
		n := l.sys.jobs[id].Nodes
		l.where[id] = slices.Clone(l.free[:n])
		l.free = l.free[n:]
	}
	return now
}

// snapshot returns the snapshot that a driver would return.
func (l *lot) snapshot(now job.Time) *cluster.Snapshot {
	one := job.Resources{CPUs: 1}
	q := &cluster.Queue{Partitions: []cluster.Partition{{Name: "all", Default: true}}}
	s := &cluster.Snapshot{At: now, Queue: q}
	for i := range l.sys.Nodes() {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Capacity: one})
		if slices.Contains(l.free, i) {
			s.Nodes[i].Free = one
		}
		q.Partitions[0].Nodes = append(q.Partitions[0].Nodes, i)
	}
	for e := range l.sys.Running() {
		q.Running = append(q.Running, cluster.Queued{
			ID: fmt.Sprint(e.ID), Partition: "all", Nodes: l.where[e.ID], Count: e.Nodes, PerNode: one, Start: e.Start, Limit: e.Limit,
		})
	}
	for e := range l.sys.Waiting() {
		q.Pending = append(q.Pending, cluster.Queued{
			ID: fmt.Sprint(e.ID), Partition: "all", Count: e.Nodes, PerNode: one, Start: e.Start, Limit: e.Limit,
		})
	}
	return s
}
