package sched

import "berth/internal/job"

// Node is the load of one node.
type Node struct {
	Index      int // breaks ties; order of first joining
	Capacity   job.Resources
	Used       job.Resources // by all attempts there, see Holds
	Shuffling  int           // reduces there that have leave for their shuffle only
	ShuffleMem int64         // bytes that those hold
	Waiting    int           // attempts there that wait for leave
	Health     Health
}

// Free returns what is not used.
func (n *Node) Free() job.Resources { return n.Capacity.Minus(n.Used) }

// AdmitsTask reports whether a bag or map task of that need can begin on the node.
// While an attempt there waits for cores, none are given away under its nose.
func (n *Node) AdmitsTask(need job.Resources) bool {
	return n.Waiting == 0 && need.Fits(n.Free())
}

// AdmitsShuffle reports whether a reduce of that need can begin its shuffle on the
// node: at most as many shuffle at once as the node has cores, shuffling being how many
// of those there count, and shuffles together leave room bytes, the memory of one map, so
// that maps can always run.
func (n *Node) AdmitsShuffle(need job.Resources, room int64, shuffling int) bool {
	return shuffling < n.Capacity.CPUs && need.CPUs <= n.Capacity.CPUs && need.Mem <= n.Free().Mem &&
		n.ShuffleMem+need.Mem+min(room, n.Capacity.Mem) <= n.Capacity.Mem
}

// Obstructed reports whether shuffles hold so much memory that a task of so many bytes
// could not run on the node even if all else there ended.
func (n *Node) Obstructed(mem int64) bool {
	return n.Capacity.Mem-n.ShuffleMem < mem
}

// lighter reports whether n is less loaded than m: by the share of cores in use,
// then by free memory, then by index.
func (n *Node) lighter(m *Node) bool {
	a, b := n.Used.CPUs*max(1, m.Capacity.CPUs), m.Used.CPUs*max(1, n.Capacity.CPUs)
	if a != b {
		return a < b
	}
	if x, y := n.Free().Mem, m.Free().Mem; x != y {
		return x > y
	}
	return n.Index < m.Index
}

// Choice picks the least loaded of the nodes it is offered. Nodes to be avoided are
// taken only where there is no other.
type Choice struct {
	best    *Node
	avoided bool
}

// Offer puts a node up for choice. It must admit what is to be placed.
func (c *Choice) Offer(n *Node, avoid bool) {
	switch {
	case c.best == nil, c.avoided && !avoid:
	case avoid && !c.avoided, !n.lighter(c.best):
		return
	}
	c.best, c.avoided = n, avoid
}

// Best returns the chosen node's load, nil if none was offered, and whether it was to be avoided.
func (c *Choice) Best() (n *Node, avoided bool) { return c.best, c.avoided }
