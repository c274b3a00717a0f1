package sim

import (
	"math/rand/v2"
	"time"

	"berth/internal/job"
)

// The streams of random numbers that a seed has: what is drawn for one purpose changes
// nothing for another.
const (
	profileStream uint64 = iota << 60
	failStream
	slowStream
	taskStream
	cloudStream
)

// breakNodes notes the first fault of each node.
func (w *world) breakNodes() {
	f := &w.cfg.Faults
	for i := range w.cfg.Cluster.Nodes {
		if f.NodeMTBF > 0 {
			b := &breakage{w: w, node: i, rng: rand.New(rand.NewPCG(w.cfg.Seed, failStream+uint64(i)))}
			w.agenda.note(w.now.Add(exponential(b.rng, f.NodeMTBF)), faultRank, b)
		}
		if f.SlowMTBF > 0 {
			s := &slowness{w: w, node: i, rng: rand.New(rand.NewPCG(w.cfg.Seed, slowStream+uint64(i)))}
			w.agenda.note(w.now.Add(exponential(s.rng, f.SlowMTBF)), faultRank, s)
		}
	}
}

// exponential draws a time, exponentially distributed.
func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return max(roundMilli(rng.ExpFloat64()*float64(mean)), time.Millisecond)
}

// breakage is the failures of a node, one after the other.
type breakage struct {
	w    *world
	node int
	rng  *rand.Rand
}

// happen takes the node down, or brings it back.
func (b *breakage) happen() {
	w, f := b.w, &b.w.cfg.Faults
	if w.machine.state[b.node].down {
		w.mend(b.node)
		w.agenda.note(w.now.Add(exponential(b.rng, f.NodeMTBF)), faultRank, b)
		return
	}
	w.breakDown(b.node)
	w.agenda.note(w.now.Add(exponential(b.rng, f.Repair)), faultRank, b)
}

// breakDown lets a node fail, with what runs there.
func (w *world) breakDown(node int) {
	holder := w.machine.state[node].holder
	if w.machine.fail(node) {
		w.system.Resize(w.now, -1)
		w.changed = true
		return
	}
	for rank, n := range holder.on {
		if n == node {
			holder.owner.broke(holder, rank)
		}
	}
}

// mend brings a node back.
func (w *world) mend(node int) {
	if w.machine.repair(node) {
		w.system.Resize(w.now, 1)
		w.changed = true
		w.unpark()
	}
}

// slowness is the times in which a node is slow.
type slowness struct {
	w    *world
	node int
	rng  *rand.Rand
}

func (s *slowness) happen() {
	state, f := &s.w.machine.state[s.node], &s.w.cfg.Faults
	state.slow = !state.slow
	mean := f.SlowMTBF
	if state.slow {
		mean = f.SlowFor
	}
	s.w.agenda.note(s.w.now.Add(exponential(s.rng, mean)), faultRank, s)
}

// unlucky reports whether an attempt is to fail: by its name and the seed, so that the same
// attempts do whatever else happens.
func (w *world) unlucky(id job.Attempt, index int) bool {
	share := w.cfg.Faults.TaskFails
	if share <= 0 {
		return false
	}
	rng := rand.NewPCG(w.cfg.Seed, taskStream|uint64(index)<<36|uint64(id.Task)<<12|uint64(id.N))
	return float64(rng.Uint64()>>11)/(1<<53) < share
}
