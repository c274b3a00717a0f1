package coordinator

import (
	"context"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver"
)

// lookEvery is how often the queues are looked at in which allocations are, or wait.
const lookEvery = time.Minute

// lookPatience bounds how long a look may take.
const lookPatience = 50 * time.Second

// queueOf names a batch system's queue: a backend, and the id of a cluster.
type queueOf struct{ on, cluster string }

// lookAtQueues observes the queues in which allocations are, or wait, beside the loop. It does nothing if the last look is not
// over. It runs in the loop.
func (s *Server) lookAtQueues() {
	all := map[queueOf]bool{}
	for _, r := range s.shapes {
		if r.Elastic {
			all[queueOf{r.On, r.Batch.Cluster}] = true
		}
	}
	if len(all) == 0 {
		return
	}
	s.alone(&s.looking, func() {
		ctx, cancel := context.WithTimeout(s.planCtx, lookPatience)
		defer cancel()
		for q := range all {
			s.observeQueue(ctx, q)
		}
	})
}

// observeQueue observes a queue. A batch system that does not answer is told elsewhere, by what waits for it.
func (s *Server) observeQueue(ctx context.Context, q queueOf) {
	if d, snap, err := s.snapshot(ctx, q); err == nil {
		s.queues.Observe(&snap)
		s.rememberQueue(ctx, d, &snap)
	}
}

// snapshot returns what the nodes and the queue of a batch system are like now, and its driver.
func (s *Server) snapshot(ctx context.Context, q queueOf) (d driver.Observer, snap cluster.Snapshot, err error) {
	d, ok := s.backends.driver(q.on).(driver.Observer)
	if !ok {
		return nil, snap, job.TransientError(q.on, "its commands are not on the coordinator's PATH", nil)
	}
	snap, err = d.Snapshot(ctx, q.cluster)
	return d, snap, err
}

// rememberQueue asks accounting for what was before the first look.
func (s *Server) rememberQueue(ctx context.Context, d driver.Observer, snap *cluster.Snapshot) {
	r, ok := d.(driver.Remembering)
	if !ok || snap.Queue == nil || !s.queues.Begins(snap) {
		return
	}
	before, err := r.Past(ctx, snap.Queue.ID, snap.Queue.User, snap.At.Add(-starts.Kept))
	if err != nil {
		s.log.Info("accounting tells nothing of earlier jobs, so starts are predicted once some were seen to end", "cluster", snap.Queue.Cluster, "err", err)
		return
	}
	s.queues.Add(snap, &before)
	s.log.Info("accounting has told of earlier jobs", "cluster", snap.Queue.Cluster, "ended", len(before.Ended))
}

// noteStart keeps how long the first allocation of a job has waited, beside what its plan predicted. It runs in the loop.
func (s *Server) noteStart(id job.AllocID) {
	of, requested, wait := s.nodes.FirstOf(id)
	l := s.jobs[of]
	if l == nil || requested.Sub(l.Plan.At) > planPatience { // else it was requested by a later plan
		return
	}
	if c, ok := l.Plan.Start.Came(wait); ok {
		q := l.Plan.Alloc
		s.beside.Go(func() { s.queues.Start(q.On, q.Batch.Cluster, c) })
	}
}
