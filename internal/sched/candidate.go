package sched

import (
	"container/heap"
	"iter"
	"time"

	"berth/internal/job"
)

// Place is where a job stands in the line of its pool.
type Place struct {
	Rank  job.Time // by Policy.Rank, the lowest first
	Order uint64   // in the line of submissions and resumes
}

// Before reports whether a job at p goes before one at q: the lower rank, and among
// equals the first in.
func (p Place) Before(q Place) bool {
	if p.Rank != q.Rank {
		return p.Rank < q.Rank
	}
	return p.Order < q.Order
}

// Job is what a policy knows of a job. Arrays have an element for bag tasks or maps and one
// for reduces, see KindIndex.
type Job struct {
	ID    job.ID
	Owner any // the engine's record of the job; policies do not look at it
	Place
	Released job.Time         // when it was submitted, or resumed for the last time
	Left     [2]Unstarted     // its tasks that have no core yet
	Waits    bool             // its reduces wait for maps that are not done
	Shuffles int              // its reduces that shuffle, see Running.Shuffles
	Begin    [2]Candidate     // to begin the next of its tasks
	Urgent   [2]Candidate     // to begin one of its tasks anew beside or instead of an attempt that is too slow, see Needs.Urgent
	Need     [2]job.Resources // of each of its tasks, as its user or the plan says
	Demand   [2]Demand        // of each of its tasks, as the scheduler counts it
	Known    Known            // what its phases were measured to take
	Held     job.Vector       // by its attempts …
	Live     int              // … of which there are so many
	madeRoom bool             // its reduces made room for a map: they wait for its own maps, see Selector.admits
	work     int64            // core-seconds that are yet to begin
	paces    [job.PhaseReduce + 1][]pace
	Weight   float64 // of the job beside others, above 0
}

// Needs is what a candidate needs of a node. Where one candidate finds no room, none of
// equal needs does that comes after it.
type Needs struct {
	Kind    job.TaskKind
	Takes   job.Vector    // what it holds of its node once it has started: the demand of the phases that it gets a grant for
	Peak    job.Vector    // the most that any of its phases takes: a smaller node could never finish it
	Room    int64         // bytes of the node that it has to leave to the tasks that it waits for
	Span    time.Duration // that must be left of the time of the node, see Span
	Trusted bool          // it never starts on a node that is suspected, not even where all are
	// Urgent says that its tasks begin before others of their job, and only on nodes that are not slow, see Ready.AddUrgent.
	Urgent bool
}

// shuffles reports whether it is a reduce that begins: with its shuffle, in which it mostly waits for maps.
func (n *Needs) shuffles() bool { return n.Kind == job.ReduceTask }

// Candidate is something that could start now. Either it is a task that begins; then it
// stands for all tasks of its job and kind that are ready, and may start on any node. Or it is a
// running attempt that goes on, on its node, to its next phases.
type Candidate struct {
	Needs
	Job     *Job
	Running *Running  // the attempt that goes on; nil for a task that begins
	Node    *Node     // of that attempt
	Phase   job.Phase // the first that it gets a grant for …
	Through job.Phase // … and the last, see Policy.Through
	Since   job.Time  // when the attempt asked to go on
	Ready   Ready     // the tasks of which one begins

	place Place  // of its job; of an attempt when it asked: later changes would have nodes looked at for nothing
	class *Class // in which it waits, or nil
	pos   int    // in class.line
}

// begins returns the candidates of the job to begin tasks.
func (j *Job) begins() [4]*Candidate {
	return [4]*Candidate{&j.Begin[0], &j.Begin[1], &j.Urgent[0], &j.Urgent[1]}
}

// Class returns the class in which the candidate waits, or nil.
func (c *Candidate) Class() *Class { return c.class }

// before reports whether c goes first: by the places of the jobs; within a job what is urgent before
// the rest; maps before reduces, so that shuffles take only memory that no map wants; and then by task.
func (c *Candidate) before(d *Candidate) bool {
	switch {
	case c.place != d.place:
		return c.place.Before(d.place)
	case c.Urgent != d.Urgent:
		return c.Urgent
	case c.Kind != d.Kind:
		return c.Kind < d.Kind
	}
	return c.Running != nil && c.Running.ID.Task < d.Running.ID.Task
}

// Class is the line of candidates of equal needs that begin, or of all that go on on one node.
type Class struct {
	Needs
	line line
	// What follows is the policy's.

	blocked    bool  // no node had room for it when last looked, so only nodes with something freed since need a look
	seen       bool  // it was looked at in the pass under way
	tried      bool  // no room was found in the pass under way
	infeasible bool  // no node could take one were it empty: all are too small or have too little time. New nodes unblock it
	room       int64 // bytes that it has to leave to candidates of earlier jobs that found no room, when last looked
}

// Kept returns the bytes of each node that candidates of the class have to leave to others.
func (c *Class) Kept() int64 { return max(c.Room, c.room) }

// Jobs returns the jobs of the candidates in the class, in no order.
func (c *Class) Jobs() iter.Seq[job.ID] {
	return func(yield func(job.ID) bool) {
		for _, d := range c.line {
			if !yield(d.Job.ID) {
				return
			}
		}
	}
}

func (c *Class) push(d *Candidate) {
	d.class = c
	heap.Push(&c.line, d)
}

func (c *Class) remove(d *Candidate) {
	heap.Remove(&c.line, d.pos)
	d.class = nil
}

// line is a heap of candidates, the first in line first.
type line []*Candidate

func (h line) Len() int           { return len(h) }
func (h line) Less(i, j int) bool { return h[i].before(h[j]) }
func (h line) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}
func (h *line) Push(x any) {
	c := x.(*Candidate)
	c.pos = len(*h)
	*h = append(*h, c)
}
func (h *line) Pop() any {
	c := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return c
}
