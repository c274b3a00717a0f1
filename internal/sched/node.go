package sched

import (
	"time"

	"berth/internal/job"
)

// Alloc is what a policy knows of the allocation of a node.
type Alloc struct {
	Ends    job.Time // when its time is over, as far as is known; 0: it has no end, or has not begun
	Retired bool     // it takes no new tasks and ends with what runs there
}

// Node is the load of one node.
type Node struct {
	Index      int // breaks ties; order of first joining
	Alloc      *Alloc
	Up         bool // its worker answers
	Capacity   job.Vector
	Running    []*Running // the attempts there, in no order
	Used       job.Vector // by all of them
	Shuffles   int        // how many of them shuffle …
	ShuffleMem int64      // … and the bytes that those hold
	Health     Health

	waiting Class // the attempts there that could go on
	freed   bool  // it is in Pool.freed
}

// Running is an attempt that occupies a node.
type Running struct {
	ID     job.Attempt
	Job    *Job
	Holds  job.Vector // of its node
	Doomed string     // the reason why it is being killed, or empty
	Kind   job.TaskKind
	Leave  job.Phase // the last phase that it may run through
	at     int32     // in Node.Running
}

// Shuffles reports whether the attempt is a reduce that has leave for its shuffle only: it mostly waits for maps.
func (r *Running) Shuffles() bool { return r.Leave == job.PhaseShuffle }

// Free returns what is not used.
func (n *Node) Free() job.Vector { return n.Capacity.Minus(n.Used) }

// Admits reports whether a task that takes so much, with a core at least, can begin on the node.
// While an attempt there waits for cores, none are given away under its nose.
func (n *Node) Admits(takes job.Vector) bool {
	return len(n.waiting.line) == 0 && fits(takes, n.Free())
}

// AdmitsShuffle reports whether a reduce can begin to shuffle on the node: at
// most as many do so at once as the node has cores, beside being how many of those there count, and
// all of them leave room bytes, the memory of one map, so that maps can always run.
func (n *Node) AdmitsShuffle(needs *Needs, room int64, beside int) bool {
	mem := needs.Takes.Memory
	return beside < n.cores() && needs.Peak.CPU <= n.Capacity.CPU && mem <= n.Free().Memory &&
		n.ShuffleMem+mem+min(room, n.Capacity.Memory) <= n.Capacity.Memory
}

// cores returns the number of cores of the node.
func (n *Node) cores() int { return int(n.Capacity.CPU / job.MilliCore) }

// Resumes reports whether the node has what the attempt, which runs there, takes more than it holds.
func (n *Node) Resumes(c *Candidate) bool {
	more, free := c.Takes.Minus(c.Running.Holds), n.Free()
	return (more.CPU <= 0 || more.CPU <= free.CPU) && (more.Memory <= 0 || more.Memory <= free.Memory)
}

// InTime reports whether what needs that span may begin on the node now, as far as the end of its
// allocation goes.
func (n *Node) InTime(now job.Time, span time.Duration) bool {
	return !n.Alloc.Retired && InTime(now, n.Alloc.Ends, span)
}

// Obstructed reports whether reduces that shuffle hold so much memory that a task of so many bytes
// could not run on the node even if all else there ended.
func (n *Node) Obstructed(mem int64) bool {
	return n.Capacity.Memory-n.ShuffleMem < mem
}

// lighter reports whether n is less loaded than m: by the share of cores in use,
// then by free memory, then by index.
func (n *Node) lighter(m *Node) bool {
	a, b := n.Used.CPU*max(1, m.Capacity.CPU), m.Used.CPU*max(1, n.Capacity.CPU)
	if a != b {
		return a < b
	}
	if x, y := n.Free().Memory, m.Free().Memory; x != y {
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

// fits reports whether the cores and the memory of takes are there.
func fits(takes, free job.Vector) bool { return takes.CPU <= free.CPU && takes.Memory <= free.Memory }
