package coordinator

import (
	"context"
	"time"
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
	if len(all) == 0 || !s.looking.CompareAndSwap(false, true) {
		return
	}
	s.planning.Go(func() {
		defer s.looking.Store(false)
		ctx, cancel := context.WithTimeout(s.planCtx, lookPatience)
		defer cancel()
		for q := range all {
			s.observeQueue(ctx, q)
		}
	})
}

// observeQueue observes a queue. A batch system that does not answer is told elsewhere, by what waits for it.
func (s *Server) observeQueue(ctx context.Context, q queueOf) {
	if d := s.backends.driver(q.on); d != nil {
		if snap, err := d.Snapshot(ctx, q.cluster); err == nil {
			s.queues.Observe(&snap)
		}
	}
}
