package sched

import (
	"cmp"
	"slices"
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
	Host       string
	Index      int // breaks ties; order of first joining
	Alloc      *Alloc
	Kind       int  // of its processors, by Speeds.Kind
	Up         bool // its worker answers
	Capacity   job.Vector
	SortMemory int64      // bytes of its memory to sort and merge in
	Running    []*Running // the attempts there, in no order
	Used       job.Vector // by all of them
	Shuffles   int        // how many of them shuffle …
	ShuffleMem int64      // … and the bytes that those hold
	Health     Health

	sorting int64      // bytes of SortMemory that attempts there were granted; as lent, not part of the state that records make
	waiting Class      // the attempts there that could go on …
	lent    job.Vector // … and what they hold and do not use while they wait; not part of the state that records make
	freed   bool       // it is in Pool.freed
	unpaced bool       // it is in Pool.unpaced
}

// Running is an attempt that occupies a node.
type Running struct {
	ID      job.Attempt
	Job     *Job
	Holds   job.Vector // of its node
	lent    job.Vector // of Holds, while it waits: see Node.lent
	Doomed  string     // the reason why it is being killed, or empty
	Sort    int64      // bytes that it was granted to sort in; see Node.sorting
	Net     int64      // bytes/s that it was granted to fetch with; 0: no limit
	at      int32      // in Node.Running
	Kind    job.TaskKind
	Through job.Phase // the last phase that it may run through
	waits   bool      // for a grant to go on
}

// Shuffles reports whether the attempt is a reduce that has a grant for its shuffle only: it mostly waits for maps.
func (r *Running) Shuffles() bool { return r.Through == job.PhaseShuffle }

// Free returns what is not used: by nobody, or by attempts that wait for a grant and could give it to others.
func (n *Node) Free() job.Vector { return n.Capacity.Minus(n.Used).Plus(n.lent) }

// Admits reports whether the node has room for an attempt that it has already and that was given up: its cores and its memory.
func (n *Node) Admits(takes job.Vector) bool {
	return len(n.waiting.line) == 0 && fits(takes, n.Free())
}

// leavesRoom reports whether all reduces that shuffle on the node, with one more, leave room bytes, the memory of
// one map, so that maps can always run.
func (n *Node) leavesRoom(needs *Needs, room int64) bool {
	has := n.Capacity.Memory
	return needs.Peak.CPU <= n.Capacity.CPU && n.ShuffleMem+min(needs.Takes.Memory, has)+min(room, has) <= has
}

// cores returns the number of cores of the node.
func (n *Node) cores() int { return int(n.Capacity.CPU / job.MilliCore) }

// InTime reports whether what needs that span may begin on the node now, as far as the end of its
// allocation goes.
func (n *Node) InTime(now job.Time, span time.Duration) bool {
	return !n.Alloc.Retired && InTime(now, n.Alloc.Ends, span)
}

// Obstructed reports whether reduces that shuffle hold so much memory that a task of so many bytes
// could not run on the node even if all else there ended.
func (n *Node) Obstructed(mem int64) bool {
	return max(0, n.Capacity.Memory-n.ShuffleMem) < mem
}

// stalled reports whether nothing runs on the node that could give anything back by ending: its attempts wait for a grant, or
// for maps.
func (n *Node) stalled() bool {
	return !slices.ContainsFunc(n.Running, func(a *Running) bool { return !a.waits && !a.Shuffles() })
}

// wanted returns the memory that the attempts which wait on the node take beyond what they hold.
func (n *Node) wanted() (sum int64) {
	for _, c := range n.waiting.line {
		sum += c.more().Memory
	}
	return sum
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

// Choice picks the node of those it is offered where a start is worth most, or the least loaded one where that is the
// same or nobody says. Nodes to be avoided are taken only where there is no other.
type Choice struct {
	worth   func(*Node) float64 // nil: the same everywhere
	best    *Node
	most    float64 // worth of best
	offers  int
	avoided bool
}

// Offer puts a node up for choice. It must admit what is to be placed.
func (c *Choice) Offer(n *Node, avoid bool) {
	worth := 0.0
	c.offers++
	if c.worth != nil {
		worth = c.worth(n)
	}
	switch {
	case c.best == nil, c.avoided && !avoid:
	case avoid && !c.avoided, worth < c.most, worth == c.most && !n.lighter(c.best):
		return
	}
	c.best, c.most, c.avoided = n, worth, avoid
}

// Best returns the chosen node's load, nil if none was offered, and whether it was to be avoided.
func (c *Choice) Best() (n *Node, avoided bool) { return c.best, c.avoided }

// bySince returns the attempts that wait on the node, those first that have waited longest.
func (n *Node) bySince() []*Candidate {
	return slices.SortedFunc(slices.Values(n.waiting.line), func(a, b *Candidate) int {
		switch {
		case a.Since != b.Since:
			return cmp.Compare(a.Since, b.Since)
		case a.before(b):
			return -1
		}
		return 1
	})
}

// fits reports whether the cores and the memory of takes are there.
func fits(takes, free job.Vector) bool { return takes.CPU <= free.CPU && takes.Memory <= free.Memory }
