package sim

import (
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
)

// The streams of random numbers of one seed. Each purpose has its own stream, so that draws for one
// purpose do not change the draws for another.
const (
	profileStream uint64 = iota << 60
	failStream
	slowStream
	taskStream
	cloudStream
)

// breakNodes schedules the first fault of each node.
func (w *World) breakNodes() {
	f := &w.cfg.Faults
	for i := range w.cfg.Cluster.Nodes {
		state := &w.machine.state[i]
		if f.NodeMTBF > 0 {
			w.alternate(failStream+uint64(i), f.NodeMTBF, func() time.Duration {
				if state.down {
					w.repair(i)
					return f.NodeMTBF
				}
				w.breakDown(i)
				return f.Repair
			})
		}
		if f.SlowMTBF > 0 {
			w.alternate(slowStream+uint64(i), f.SlowMTBF, func() time.Duration {
				if state.slow = !state.slow; state.slow {
					return f.SlowFor
				}
				return f.SlowMTBF
			})
		}
	}
}

// alternate calls change again and again, at first after a random time with that mean, and then with the mean that change returns.
func (w *World) alternate(stream uint64, mean time.Duration, change func() time.Duration) {
	rng := rand.New(rand.NewPCG(w.cfg.Seed, stream))
	var fire func()
	next := func(mean time.Duration) { w.agenda.schedule(w.now.Add(exponential(rng, mean)), faultRank, fire) }
	fire = func() { next(change()) }
	next(mean)
}

// exponential draws an exponentially distributed duration of at least 1 ms.
func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return max(roundMilli(rng.ExpFloat64()*float64(mean)), time.Millisecond)
}

// breakDown makes a node fail. The allocation on it, if any, loses the node.
func (w *World) breakDown(node int) {
	holder := w.machine.state[node].holder
	if w.machine.fail(node) {
		w.queueAt(node).Resize(w.now, -1)
		w.changed = true
		return
	}
	for rank, n := range holder.on {
		if n == node {
			holder.owner.nodeFailed(rank)
		}
	}
}

// repair brings a node back.
func (w *World) repair(node int) {
	if w.machine.repair(node) {
		w.queueAt(node).Resize(w.now, 1)
		w.changed = true
		w.unpark()
	}
}

// attemptFails reports whether an attempt is to fail. It depends only on the attempt's identity and
// the seed, so that the same attempts fail in every variant of an experiment.
func (w *World) attemptFails(id job.Attempt, index int) bool {
	share := w.cfg.Faults.TaskFails
	if share <= 0 {
		return false
	}
	rng := rand.NewPCG(w.cfg.Seed, taskStream|uint64(index)<<36|uint64(id.Task)<<12|uint64(id.N))
	return float64(rng.Uint64()>>11)/(1<<53) < share
}
