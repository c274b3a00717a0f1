package sim

import (
	"cmp"
	"strconv"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
)

// partition is the name of the only partition.
const partition = "sim"

// grain is the unit to which wall times are rounded up unless the cluster has another.
const grain = time.Second

// snapshot returns the cluster and its queue as a driver shows them: running jobs with their nodes
// and limits, and waiting jobs with their reservations if the policy makes reservations. user is who asks.
// It is valid until the virtual time advances.
func (w *World) snapshot(user string) cluster.Snapshot {
	q := &cluster.Queue{Cluster: siteName, User: user, Grain: cmp.Or(w.cfg.Cluster.Grain, grain), Partitions: []cluster.Partition{
		{Name: partition, Default: true, Nodes: w.machine.all, MaxTime: w.cfg.Cluster.MaxTime, Whole: true}}}
	if w.cfg.Policy == batch.CBF {
		q.Depth = len(w.allocs) // each of those that wait has a reservation
	}
	for e := range w.system.Running() {
		q.Running = append(q.Running, w.queued(w.allocs[e.ID], e.Limit))
	}
	for e := range w.system.Waiting() {
		j := w.queued(w.allocs[e.ID], e.Limit)
		if e.Start != timeline.Never {
			j.Start = e.Start
		}
		q.Pending = append(q.Pending, j)
	}
	for _, a := range w.parked {
		j := w.queued(a, a.limit)
		j.Held = "too few nodes are up"
		q.Pending = append(q.Pending, j)
	}
	return cluster.Snapshot{Driver: siteName, At: w.now, Nodes: w.machine.shown, Queue: q}
}

func (w *World) queued(a *allocation, limit time.Duration) cluster.Queued {
	return cluster.Queued{ID: strconv.Itoa(int(a.id)), User: a.user, Partition: partition, Nodes: a.on, Count: a.nodes, PerNode: w.machine.size, Whole: true,
		Start: a.began, Limit: limit}
}
