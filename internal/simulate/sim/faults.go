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
		if f.NodeMTBF > 0 {
			b := &breakage{w: w, node: i, rng: rand.New(rand.NewPCG(w.cfg.Seed, failStream+uint64(i)))}
			w.agenda.schedule(w.now.Add(exponential(b.rng, f.NodeMTBF)), faultRank, b)
		}
		if f.SlowMTBF > 0 {
			s := &slowness{w: w, node: i, rng: rand.New(rand.NewPCG(w.cfg.Seed, slowStream+uint64(i)))}
			w.agenda.schedule(w.now.Add(exponential(s.rng, f.SlowMTBF)), faultRank, s)
		}
	}
}

// exponential draws an exponentially distributed duration of at least 1 ms.
func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return max(roundMilli(rng.ExpFloat64()*float64(mean)), time.Millisecond)
}

// breakage alternates between the failure and the repair of a node.
type breakage struct {
	w    *World
	node int
	rng  *rand.Rand
}

// fire takes the node down, or brings it back.
func (b *breakage) fire() {
	w, f := b.w, &b.w.cfg.Faults
	if w.machine.state[b.node].down {
		w.repair(b.node)
		w.agenda.schedule(w.now.Add(exponential(b.rng, f.NodeMTBF)), faultRank, b)
		return
	}
	w.breakDown(b.node)
	w.agenda.schedule(w.now.Add(exponential(b.rng, f.Repair)), faultRank, b)
}

// breakDown makes a node fail. The allocation on it, if any, loses the node.
func (w *World) breakDown(node int) {
	holder := w.machine.state[node].holder
	if w.machine.fail(node) {
		w.system.Resize(w.now, -1)
		w.changed = true
		return
	}
	for rank, n := range holder.on {
		if n == node {
			holder.owner.nodeFailed(holder, rank)
		}
	}
}

// repair brings a node back.
func (w *World) repair(node int) {
	if w.machine.repair(node) {
		w.system.Resize(w.now, 1)
		w.changed = true
		w.unpark()
	}
}

// slowness alternates between the fast and the slow times of a node.
type slowness struct {
	w    *World
	node int
	rng  *rand.Rand
}

func (s *slowness) fire() {
	state, f := &s.w.machine.state[s.node], &s.w.cfg.Faults
	state.slow = !state.slow
	mean := f.SlowMTBF
	if state.slow {
		mean = f.SlowFor
	}
	s.w.agenda.schedule(s.w.now.Add(exponential(s.rng, mean)), faultRank, s)
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
