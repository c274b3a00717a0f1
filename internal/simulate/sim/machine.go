package sim

import (
	"strconv"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// machine is the set of nodes of the simulated cluster. The batch system only counts nodes. The
// machine decides which nodes an allocation gets: the free ones with the lowest numbers.
type machine struct {
	size   job.Resources // what each node has at least
	kinds  []string      // the type of each node
	speeds []float64     // nil: all speeds are 1
	state  []nodeState
	shown  []cluster.Node // the nodes as snapshots show them
}

// nodeState is the state of a node.
type nodeState struct {
	holder *allocation // the allocation on the node, or nil
	down   bool        // the node has failed and is not repaired
	out    bool        // the batch system does not count the node
	slow   bool        // attempts that begin here take longer
}

// NodeName returns the name of a node.
func NodeName(node int) string { return "n" + strconv.Itoa(node) }

func newMachine(c *Cluster) *machine {
	m := &machine{size: job.Resources{CPUs: max(c.Cores, 1), Mem: c.Memory}, speeds: c.Speeds, state: make([]nodeState, c.Nodes)}
	for i := range c.Nodes {
		k := Kind{Capacity: m.size}
		if c.Kinds != nil {
			k = c.Kinds[i]
		}
		m.kinds = append(m.kinds, k.Type)
		m.shown = append(m.shown, cluster.Node{Name: NodeName(i), Capacity: k.Capacity, Free: k.Capacity})
	}
	return m
}

// assign gives nodes of its partition to an allocation.
func (m *machine) assign(a *allocation) {
	a.on = make([]int, 0, a.nodes)
	for i := a.queue.all[0]; len(a.on) < a.nodes; i++ {
		if s := &m.state[i]; s.holder == nil && !s.out {
			s.holder = a
			m.shown[i].Free = job.Resources{}
			a.on = append(a.on, i)
		}
	}
}

// reclaim frees the nodes of an allocation. It returns the number of nodes that are down, which the
// batch system must no longer count.
func (m *machine) reclaim(a *allocation) (gone int) {
	for _, i := range a.on {
		s := &m.state[i]
		s.holder = nil
		if s.down {
			s.out = true
			gone++
			continue
		}
		m.shown[i].Free = m.shown[i].Capacity
	}
	return gone
}

// speed returns the speed of a node's cores.
func (m *machine) speed(i int) float64 {
	if m.speeds == nil {
		return 1
	}
	return m.speeds[i]
}

// fail takes a node down. It reports whether the batch system loses the node now. Otherwise the
// batch system loses it when the allocation on it ends.
func (m *machine) fail(i int) (now bool) {
	s := &m.state[i]
	s.down = true
	m.shown[i].Down = "down"
	if s.holder != nil {
		return false
	}
	s.out = true
	m.shown[i].Free = job.Resources{}
	return true
}

// repair brings a node back. It reports whether the batch system regains the node now. Otherwise the
// batch system never lost it, because an allocation had it.
func (m *machine) repair(i int) (now bool) {
	s := &m.state[i]
	s.down = false
	m.shown[i].Down = ""
	if !s.out {
		return false
	}
	s.out = false
	m.shown[i].Free = m.shown[i].Capacity
	return true
}
