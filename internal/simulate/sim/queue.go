package sim

import (
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
)

// Partition is a part of the cluster: nodes that only its own jobs get.
type Partition struct {
	Name    string
	Nodes   int           // the next nodes of the cluster
	MaxTime time.Duration // the longest wall time of an elastic job; 0: unlimited
	// Taken are the times in which jobs of others have its nodes, whatever runs there. A partition that has such times shows that it may.
	Taken []Span
}

// Span is a part of the time of the workload.
type Span struct {
	From job.Time // since the beginning of the workload
	For  time.Duration
}

// queue is a partition with the batch system of its nodes.
type queue struct {
	*batch.System
	Partition
	all   []int    // its nodes
	taken job.Time // until when jobs of others have them
}

// partitions returns the partitions of a cluster: one of all nodes where it names none.
func (c *Cluster) partitions() []Partition {
	if c.Partitions == nil {
		return []Partition{{Name: partition, Nodes: c.Nodes, MaxTime: c.MaxTime}}
	}
	return c.Partitions
}

// newQueues returns the partitions with their nodes, all free.
func newQueues(cfg *Config) (all []*queue) {
	first := 0
	for _, p := range cfg.Cluster.partitions() {
		q := &queue{System: batch.New(p.Nodes, cfg.Policy), Partition: p}
		for i := range p.Nodes {
			q.all = append(q.all, first+i)
		}
		first += p.Nodes
		all = append(all, q)
	}
	return all
}

// queueOf returns the partition of that name, the first one for a job that names none.
func (w *World) queueOf(name string) *queue {
	return w.queues[max(0, slices.IndexFunc(w.queues, func(q *queue) bool { return q.Name == name }))]
}

// queueAt returns the partition of a node.
func (w *World) queueAt(node int) *queue {
	return w.queues[slices.IndexFunc(w.queues, func(q *queue) bool { return node <= q.all[len(q.all)-1] })]
}

// nextStart returns the next instant at which a batch system may start a job without any other event, or timeline.Never.
func (w *World) nextStart() job.Time {
	next := timeline.Never
	for _, q := range w.queues {
		next = min(next, q.Next())
	}
	return next
}

// takeNodes schedules the times in which jobs of others have the nodes of partitions.
func (w *World) takeNodes() {
	for _, q := range w.queues {
		for _, s := range q.Taken {
			w.agenda.schedule(Epoch+s.From, faultRank, func() {
				q.taken = w.now.Add(s.For)
				for _, i := range q.all {
					w.breakDown(i)
					w.machine.shown[i].Down = ""
				}
			})
			w.agenda.schedule((Epoch + s.From).Add(s.For), faultRank, func() {
				for _, i := range q.all {
					w.repair(i)
				}
			})
		}
	}
}

// soonest returns the partition of a list in which a request would start first, as each of them plans it now.
func (w *World) soonest(names []string, nodes int, limit time.Duration) string {
	best, first := names[0], timeline.Never
	for _, name := range names {
		q := w.queueOf(name)
		if q.MaxTime > 0 && limit > q.MaxTime || nodes > q.System.Nodes() {
			continue
		}
		if at, ok := q.Timeline(w.now).EarliestFit(w.now, nodes, limit); ok && at < first {
			best, first = name, at
		}
	}
	return best
}
