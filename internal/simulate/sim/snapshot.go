package sim

import (
	"cmp"
	"strconv"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
)

// partition is the name of the only partition of a cluster that names none.
const partition = "sim"

// grain is the unit to which wall times are rounded up unless the cluster has another.
const grain = time.Second

// snapshot returns the cluster and its queue as a driver shows them: running jobs with their nodes
// and limits, and waiting jobs with their reservations if the policy makes reservations. user is who asks.
// It is valid until the virtual time advances.
func (w *World) snapshot(user string) cluster.Snapshot {
	q := &cluster.Queue{Cluster: siteName, User: user, Grain: cmp.Or(w.cfg.Cluster.Grain, grain)}
	for i, of := range w.queues {
		p := cluster.Partition{Name: of.Name, Default: i == 0, Nodes: of.all, MaxTime: of.MaxTime, Whole: true}
		if of.Taken != nil {
			p.Preempted = "jobs of others end its jobs"
		}
		q.Partitions = append(q.Partitions, p)
	}
	if w.cfg.Policy == batch.CBF {
		q.Depth = len(w.allocs) // each of those that wait has a reservation
	}
	for _, of := range w.queues {
		if of.taken > w.now {
			q.Running = append(q.Running, cluster.Queued{ID: of.Name, Partition: of.Name, Nodes: of.all, Count: len(of.all), PerNode: w.machine.size, Whole: true,
				Start: w.now, Limit: of.taken.Sub(w.now)})
		}
		for e := range of.Running() {
			q.Running = append(q.Running, w.queued(w.allocs[e.ID], e.Limit))
		}
		for e := range of.Waiting() {
			j := w.queued(w.allocs[e.ID], e.Limit)
			if e.Start != timeline.Never {
				j.Start = e.Start
			}
			q.Pending = append(q.Pending, j)
		}
	}
	for _, a := range w.parked {
		j := w.queued(a, a.limit)
		j.Held = "too few nodes are up"
		q.Pending = append(q.Pending, j)
	}
	return cluster.Snapshot{Driver: siteName, At: w.now, Nodes: w.machine.shown, Queue: q}
}

func (w *World) queued(a *allocation, limit time.Duration) cluster.Queued {
	return cluster.Queued{ID: strconv.Itoa(int(a.id)), User: a.user, Partition: a.queue.Name, Nodes: a.on, Count: a.nodes, PerNode: w.machine.size, Whole: true,
		Start: a.began, Limit: limit}
}
