package sched

import (
	"slices"
	"time"

	"berth/internal/core/job"
)

// Alloc is the part of an allocation's state that the scheduler needs.
type Alloc struct {
	Ends    job.Time      // end of its wall time, as far as known; 0: it has no end, or has not begun
	Due     job.Time      // until then further nodes of it are expected; 0: none are
	Missing int           // how many have never joined …
	PerNode job.Resources // … and what each of them will have
	Retired bool          // it starts no new tasks and ends with its last attempt

	Licences job.Uses       // that the batch system gave it
	inUse    map[string]int // of them, by name
}

// Has reports whether the allocation was given so many licences, and if free is set, whether so many of them are not in use.
func (a *Alloc) Has(u job.Uses, free bool) bool {
	for name, n := range u.All() {
		has := a.Licences.Of(name)
		if free {
			has -= a.inUse[name]
		}
		if n > has {
			return false
		}
	}
	return true
}

// use counts (sign 1) what an attempt uses of the licences, or (sign −1) that it has ended.
func (a *Alloc) use(u job.Uses, sign int) {
	if a.inUse == nil {
		a.inUse = make(map[string]int)
	}
	for name, n := range u.All() {
		a.inUse[name] += sign * n
	}
}

// Node is a node and its load.
type Node struct {
	Host       string
	Index      int // order of first joining, which breaks ties
	Alloc      *Alloc
	Kind       int  // kind of its processors, by Speeds.Kind
	Up         bool // its worker answers
	Away       bool // its worker does not answer and may come back
	Capacity   job.Vector
	GPUType    string     // of its GPUs; empty: unknown or several
	SortMemory int64      // bytes of its memory for sorting and merging
	Running    []*Running // its attempts, in no order
	Used       job.Vector // resources that they hold
	shared     []int64    // what they hold of each GPU that they share, by its number
	behind     int        // how many of them are behind others
	Shuffles   int        // number of its attempts that shuffle …
	ShuffleMem int64      // … and the bytes that they hold
	Health     Health

	sorting int64      // bytes of SortMemory that its attempts were granted; like lent, not part of the state of the records
	waiting Group      // its attempts that wait for a grant …
	lent    job.Vector // … and what they hold and do not use meanwhile; not part of the state of the records
	kept    int        // how many tasks, or ranks of a gang, it is reserved for, see Pool.held
	idle    int        // how many of its attempts are idle (Pool.Idle)
	freed   bool       // it is in Pool.freed
}

// Running is an attempt that occupies a node.
type Running struct {
	ID         job.Attempt
	Job        *Job
	Of         *Tasks     // the tasks of the job with the needs of its task
	Holds      job.Vector // what it holds of its node
	GPUs       []uint16   // the numbers of the GPUs of which it holds an equal share each; nil: it shares none
	lent       job.Vector // the part of Holds that it does not use while it waits, see Node.lent
	Working    job.Time   // when it got a core, before that when it started; its time counts from then on
	KillReason string     // the reason why it is being killed, or empty
	Sort       int64      // bytes that it was granted for sorting, see Node.sorting
	at         int32      // index in Node.Running
	Kind       job.TaskKind
	Through    job.Phase // the last phase that its grant covers
	waits      bool      // it waits for a grant
	idle       bool      // see Pool.Idle
	Share      bool      // it is the part of a gang on a node other than the first one, and counts as no attempt of its own
	Behind     bool      // it begins when another one on the node has ended, and holds nothing until then
	charge     charge    // what it counts for the weight of its job
}

// Shuffles reports whether the attempt is a reduce whose grant covers its shuffle only: it mostly waits for maps.
func (r *Running) Shuffles() bool { return r.Through == job.PhaseShuffle }

// Free returns the resources that no attempt uses. Those of attempts that wait for a grant count as free, as far as
// others may use them.
func (n *Node) Free() job.Vector { return n.Capacity.Minus(n.Used).Plus(n.lent) }

// Admits reports whether the node has the cores, the memory and the GPUs for a lost attempt that turned out to run there still.
func (n *Node) Admits(takes job.Vector) bool {
	return len(n.waiting.line) == 0 && fitsFree(takes, n.FreeFor(takes))
}

// leavesRoom reports whether all reduces that shuffle on the node, and one more, leave room bytes free. That is the
// memory of one map, so that maps can always run.
func (n *Node) leavesRoom(needs *Needs, room int64) bool {
	has := n.Capacity.Memory
	return needs.Peak.CPU <= n.Capacity.CPU && n.ShuffleMem+min(needs.Demand.Memory, has)+min(room, has) <= has
}

// Cores returns the number of cores of the node.
func (n *Node) Cores() int { return int(n.Capacity.CPU / job.Milli) }

// InTime reports whether a task with that span may start on the node now, with respect to the end of its
// allocation.
func (n *Node) InTime(now job.Time, span time.Duration) bool {
	return !n.Alloc.Retired && InTime(now, n.Alloc.Ends, span)
}

// Obstructed reports whether reduces that shuffle hold so much memory that a task of mem bytes could not
// run on the node even if all its other attempts ended.
func (n *Node) Obstructed(mem int64) bool {
	return max(0, n.Capacity.Memory-n.ShuffleMem) < mem
}

// stalled reports whether no attempt on the node can free anything by ending: all wait for a grant or for
// maps.
func (n *Node) stalled() bool {
	return !slices.ContainsFunc(n.Running, func(a *Running) bool { return !a.waits && !a.Shuffles() })
}

// wanted returns the memory that the attempts which wait on the node need in addition to what they hold.
func (n *Node) wanted() (sum int64) {
	for _, c := range n.waiting.line {
		sum += c.more().Memory
	}
	return sum
}

// lighter reports whether n is less loaded than m: by the share of cores in use, then
// by free memory, then by index.
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

// Choice chooses the best of the nodes that are offered: the one where a start is worth most, among equals the least
// loaded one. It chooses a node to avoid only if no other is offered.
type Choice struct {
	worth   func(*Node) float64 // nil: equal on all nodes
	plain   bool                // what starts needs no GPU: of equal nodes, one without GPUs is better
	best    *Node
	most    float64 // worth of best
	offers  int
	avoided bool
}

// Offer adds a node to the choice. The node must have room.
func (c *Choice) Offer(n *Node, avoid bool) {
	worth := 0.0
	c.offers++
	if c.worth != nil {
		worth = c.worth(n)
	}
	switch {
	case c.best == nil, c.avoided && !avoid:
	case avoid && !c.avoided, worth < c.most, worth == c.most && !c.better(n):
		return
	}
	c.best, c.most, c.avoided = n, worth, avoid
}

// better reports whether n is better than the best node so far, on which a start is worth as much.
func (c *Choice) better(n *Node) bool {
	if has, best := n.Capacity.GPU > 0, c.best.Capacity.GPU > 0; c.plain && has != best {
		return best
	}
	return n.lighter(c.best)
}

// Best returns the chosen node, or nil if none was offered, and whether it is one to avoid.
func (c *Choice) Best() (n *Node, avoided bool) { return c.best, c.avoided }

// bySince returns the attempts that wait on the node, the longest waiting first.
func (n *Node) bySince() []*Candidate {
	return slices.SortedFunc(slices.Values(n.waiting.line), func(a, b *Candidate) int {
		if a.Since < b.Since || a.Since == b.Since && a.before(b) {
			return -1
		}
		return 1
	})
}

// fitsFree reports whether the free cores, the free memory and the free GPUs suffice.
func fitsFree(takes, free job.Vector) bool {
	return takes.CPU <= free.CPU && takes.Memory <= free.Memory && takes.GPU <= free.GPU
}

// suits reports whether the node's GPUs are of the type that is needed.
func (n *Node) suits(needs *Needs) bool {
	return needs.Peak.GPU == 0 || needs.GPUType == "" || needs.GPUType == n.GPUType
}
