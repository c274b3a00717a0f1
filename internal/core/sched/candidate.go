package sched

import (
	"container/heap"
	"iter"
	"time"

	"berth/internal/core/job"
)

// Priority is the position of a job in the line of its pool.
type Priority struct {
	Level int      // job.Terms.Priority; the highest is first, whatever the ranks
	Rank  job.Time // by Pool.Rank; the lowest rank is first
	Order uint64   // number of the job's submission or resume, which breaks ties
}

// Before reports whether a job at p comes before a job at q: the higher level first, then the lower rank, and
// among equal ranks the earlier submission.
func (p Priority) Before(q Priority) bool {
	if p.Level != q.Level {
		return p.Level > q.Level
	}
	return p.Rank < q.Rank || p.Rank == q.Rank && p.Order < q.Order
}

// Job is the part of a job's state that the scheduler needs.
type Job struct {
	ID    job.ID
	Owner any // the engine's record of the job, which schedulers do not read
	Priority
	Released job.Time   // time of its submission, or of its last resume
	By       []*Tasks   // its tasks by their needs: maps and then reduces; the tasks of a bag by the index of job.Work.NeedsAt
	Waits    bool       // its reduces wait for maps that are not done
	Shuffles int        // number of its reduces that shuffle, see Running.Shuffles
	Known    Known      // measured and profiled demands of its phases
	Gangs    Times      // measured times of its gangs, of however many ranks
	Held     job.Vector // resources that its attempts hold
	Live     int        // number of its attempts
	madeRoom bool       // its reduces were ended to free memory for a map, and starts change the line: they wait for the job's own maps, see Pool.admits
	work     int64      // core-seconds that have yet to start
	paces    [job.NumPhases][]pace
	Weight   float64  // weight of the job in shared pools, above 0
	Due      job.Time // when the job should be done; 0: it has no deadline, or cannot meet it any more
}

// Tasks are the tasks of a job with equal needs.
type Tasks struct {
	Need   job.Resources // of each of them
	Demand Demand        // of each of them, as the scheduler counts it
	Left   Unstarted     // those that hold no core yet
	Limit  time.Duration // of an attempt; 0: none
	Begin  Candidate     // starts the next of them
	Urgent Candidate     // starts one again because an attempt is too slow, see Needs.Urgent
}

// NewTasks returns tasks of the job of that kind, none of which is ready.
func NewTasks(j *Job, kind job.TaskKind) *Tasks {
	return &Tasks{Begin: Candidate{Job: j, Needs: Needs{Kind: kind}}, Urgent: Candidate{Job: j, Needs: Needs{Kind: kind, Urgent: true}}}
}

// Upper returns the time that most of the tasks do not exceed; 0: unknown. Of gangs of which too few were measured it is that of the job's
// gangs of other numbers of ranks.
func (t *Tasks) Upper() time.Duration {
	upper := t.Left.Upper()
	if upper == 0 && t.Begin.Several() {
		upper = t.Begin.Job.Gangs.Upper()
	}
	if t.Limit == 0 || upper != 0 && upper < t.Limit {
		return upper
	}
	return t.Limit
}

// Kind returns the kind of the tasks.
func (t *Tasks) Kind() job.TaskKind { return t.Begin.Kind }

// Set sets what each of the tasks needs, or each rank of them if they are gangs, and computes their demand, which may have changed with the needs or the measurements.
func (t *Tasks) Set(p *Pool, need job.Resources, gang job.Gang, trusted bool) {
	t.Need, t.Left.CPUs, t.Begin.Gang = need, need.CPUs, job.Gang{}
	if t.Demand = p.Demand(t); gang.Several() {
		p.Gangs = true
		t.Left.CPUs, t.Begin.Gang = need.CPUs*gang.Ranks, gang
		t.Demand = CoreRules{}.Demand(t) // what attempts were measured to use is for all ranks together
	}
	for _, c := range [...]*Candidate{&t.Begin, &t.Urgent} {
		c.Phase = c.Kind.Phases()[0]
		if c.Through = p.Through(t, c.Phase); gang.Several() {
			c.Through = c.Kind.Last()
		}
		c.Demand, c.Peak, c.Trusted, c.GPUType = t.Demand.Most(job.PhaseNone, c.Through), need.Vector(), trusted, need.GPUType
	}
}

// Needs is what a candidate needs of a node. If one candidate finds no room, no later candidate
// of equal needs does.
type Needs struct {
	Kind     job.TaskKind
	Demand   job.Vector    // what the attempt, or each of its ranks, holds of its node once it has started: the demand of the phases that its grant covers
	Peak     job.Vector    // the largest demand of any of its phases: a smaller node could never finish the task
	GPUType  string        // of the GPUs in Demand; empty: any
	job.Gang               // of a task of several ranks; otherwise zero
	Room     int64         // bytes of the node that stay free for the tasks that it waits for
	Span     time.Duration // time that the node must have left, see Span
	Trusted  bool          // it never starts on a suspected node, not even if all nodes are suspected
	Weight   float64       // weight of the job, see Pool.Weighed
	Uses     job.Uses      // of what all pools share, see Scarce
	Licensed job.Uses      // the part of it that are licences of the batch system, which the allocation must have been given
	// Alone distinguishes the candidate of a job that may wait where others of equal needs have room: an urgent one, and see Ready.Choosy; 0: none.
	Alone uint64
	// Urgent candidates start before all others (Candidate.overtakes), and only on nodes that are not slow, see Ready.AddUrgent.
	Urgent bool
}

// shuffles reports whether the candidate is a reduce that starts. It starts with its shuffle, in which it mostly waits
// for maps.
func (n *Needs) shuffles() bool { return n.Kind == job.ReduceTask }

// together returns the cores that the ranks of a gang hold together; 0 for a task of one process.
func (n *Needs) together() int64 { return n.Demand.CPU * int64(n.Ranks) }

// Candidate is something that could start now. It is either a task, which stands for all ready
// tasks of its job with equal needs and may start on any node, or a running attempt that could enter
// its next phases on its own node.
type Candidate struct {
	Needs
	Job     *Job
	Running *Running      // the attempt that continues; nil for a task that starts
	Node    *Node         // node of that attempt
	Phase   job.Phase     // first phase of the next grant …
	Through job.Phase     // … and the last one, see Rules.Through
	Since   job.Time      // when the attempt asked for the grant
	Upper   time.Duration // time that most of the tasks do not exceed; 0: unknown
	Ready   Ready         // the ready tasks, of which one starts

	first    int32    // the first of Ready, by which the candidates of a bag start their tasks in order
	priority Priority // position of its job; of an attempt the position when it asked, so that later changes do not cause another search
	group    *Group   // the group in which it waits, or nil
	pos      int      // index in group.line
}

// Group returns the group in which the candidate waits, or nil.
func (c *Candidate) Group() *Group { return c.group }

// before reports whether c comes before d: by the position of the jobs; within a job urgent candidates first;
// then maps before reduces, so that shuffles only get memory that no map needs; then gangs before other tasks, which fill what these leave, and large
// gangs before small ones, so that one begins where one of as many ranks has ended and no nodes wait for it; then by task.
func (c *Candidate) before(d *Candidate) bool {
	switch {
	case c.priority != d.priority:
		return c.priority.Before(d.priority)
	case c.Urgent != d.Urgent:
		return c.Urgent
	case c.Kind != d.Kind:
		return c.Kind < d.Kind
	case c.together() != d.together():
		return c.together() > d.together()
	}
	if c.Running != nil {
		return c.Running.ID.Task < d.Running.ID.Task
	}
	return c.first < d.first
}

// Group is a line of candidates: of those with equal needs that start tasks, so that one search for a node answers for all
// of them, or of all attempts of a node that wait for a grant.
type Group struct {
	Needs
	line line
	// Pool.Decisions keeps the following fields.

	blocked    bool  // no node had room at the last search, so only nodes that were freed since are searched
	seen       bool  // it was searched for in this pass
	tried      bool  // no room was found in this pass
	choosy     bool  // at the last search nodes were passed over on which its tasks have failed
	infeasible bool  // each node, even an empty one, is too small or has too little time; a new node clears this
	room       int64 // bytes that it had to leave to candidates of earlier jobs at the last search
}

// Reserved returns the bytes of each node that candidates of the group must leave to others.
func (g *Group) Reserved() int64 { return max(g.Room, g.room) }

// Jobs returns the jobs of the candidates in the group, in no order.
func (g *Group) Jobs() iter.Seq[job.ID] {
	return func(yield func(job.ID) bool) {
		for _, d := range g.line {
			if !yield(d.Job.ID) {
				return
			}
		}
	}
}

func (g *Group) push(d *Candidate) {
	d.group = g
	heap.Push(&g.line, d)
}

func (g *Group) remove(d *Candidate) {
	heap.Remove(&g.line, d.pos)
	d.group = nil
}

// line is a heap of candidates.
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
