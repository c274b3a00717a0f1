package sched

import (
	"container/heap"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Pool is a set of nodes and the candidates for them: the state that the scheduler decides over. After a change
// only freed nodes and changed groups are searched again, so a decision costs what has
// changed, however many nodes, jobs and tasks there are.
type Pool struct {
	Rules         // of the scheduler
	shortest bool // jobs are in the order Shortest, else in the order of Priority.Order …
	strict   bool // the first in line starts, and no start changes the line

	Scarce *Scarce // what all pools share; nil: nothing

	held      []Share  // nodes reserved for the first candidate that found no room, several if it is a gang …
	heldFor   *Group   // … which is the first of this group …
	heldJob   *Job     // … and belongs to this job
	heldFirst int32    // its first task
	heldStart job.Time // when it is expected to start there, if it is a gang; never: unknown

	pass pass

	Nodes   []*Node    // nodes that have been up and may come back
	Scale   int        // rounded number of its cores, see PoolScale; 0: it never had any
	Cores   int        // cores of its present allocations
	work    int64      // core-seconds of its jobs that have yet to start
	Weights float64    // sum of the weights of its jobs
	Weighed bool       // jobs of different weights share its nodes in proportion, see Scheduler.Pool
	Unit    job.Vector // maximum of each resource over the nodes that it has had, the unit of shares

	Speeds Speeds // of the kinds of its nodes
	Gangs  bool   // some of its jobs have gangs

	used  map[float64]float64 // if it is Weighed, what the jobs of each weight have used (weights.go) …
	round int                 // … since all weights began anew for the last time

	Groups   []*Group // groups of candidates that start tasks; none is empty
	byNeeds  map[Needs]*Group
	freed    []*Node // nodes that were freed since the last pass
	turned   bool    // since the last pass the first of a group has changed, or moved has reported a change
	shuffles []*Job  // jobs with attempts that shuffle
}

// Put adds a candidate to the group of its needs, and reports whether something may start because of that: it was not in the group
// before, or has another place among the candidates of its job.
func (p *Pool) Put(c *Candidate) bool {
	if c.group != nil && c.Running != nil {
		return false
	}
	first := c.first
	if c.Running == nil {
		c.first = c.Ready.First()
	}
	if c.group != nil && c.group.Needs == c.Needs {
		if first == c.first || len(c.Job.By) == 1 || c.Kind != job.BagTask {
			return false
		}
		heap.Fix(&c.group.line, c.pos)
		p.turned = true // another candidate of the job may be before the one that a node is reserved for
		return true
	}
	p.Remove(c)
	c.priority, c.Weight = c.Job.Priority, c.Job.Weight
	if c.Running != nil {
		c.Node.waiting.push(c)
		return true
	}
	group := p.byNeeds[c.Needs]
	if group == nil {
		group = &Group{Needs: c.Needs}
		if !slices.ContainsFunc(p.Groups, func(g *Group) bool { return g.Weight == c.Weight }) {
			p.renewWeights(c.Weight)
		}
		if p.byNeeds == nil {
			p.byNeeds = make(map[Needs]*Group)
		}
		p.byNeeds[c.Needs] = group
		p.Groups = append(p.Groups, group)
	}
	group.push(c)
	p.turned = p.turned || c.pos == 0
	return true
}

// Remove removes a candidate from its group, and the group with its last candidate. It
// reports whether the candidate was waiting.
func (p *Pool) Remove(c *Candidate) bool {
	group := c.group
	if group == nil {
		return false
	}
	p.turned = p.turned || c.pos == 0
	group.remove(c)
	if c.Running == nil && len(group.line) == 0 {
		delete(p.byNeeds, group.Needs)
		p.Groups = slices.DeleteFunc(p.Groups, func(d *Group) bool { return group == d })
	}
	return true
}

// Enter and Leave note that a job joins or leaves the pool.
func (p *Pool) Enter(j *Job) { p.Weights += j.Weight }

func (p *Pool) Leave(j *Job) {
	p.Weights -= j.Weight
	p.work -= j.work
	j.work = 0
}

// recount updates the work that has yet to start of the job, and of the pool.
func (p *Pool) recount(j *Job) {
	p.work -= j.work
	j.work = int64(j.Work())
	p.work += j.work
}

// Learn adds an attempt of the job that was done on the node, and reports whether the demand of its phases should be
// computed again.
func (p *Pool) Learn(n *Node, j *Job, stats []job.PhaseStat) bool {
	p.Speeds.learn(n.Kind, j, stats)
	return j.Known.Learn(stats)
}

// Free notes that resources of the node were freed.
func (p *Pool) Free(n *Node) {
	if !n.freed {
		n.freed = true
		p.freed = append(p.freed, n)
	}
}

// Freed reports whether freed nodes wait for a search.
func (p *Pool) Freed() bool { return len(p.freed) > 0 }

// takeFreed returns the nodes that were freed since the last call, and reuses the result of that call.
func (p *Pool) takeFreed(before []*Node) []*Node {
	freed := p.freed
	p.freed = before[:0]
	for _, n := range freed {
		n.freed = false
	}
	return freed
}

// Changed has all nodes searched again, because a node came, went or is no longer suspected.
func (p *Pool) Changed() {
	for _, g := range p.Groups {
		g.blocked = false
	}
}

// Rerank updates the position of a job after any change of it, and of its candidates that start tasks. It
// reports whether something may start because of that. It costs the logarithm of the number of jobs
// and one step for each group.
func (p *Pool) Rerank(j *Job) bool {
	p.recount(j)
	was := j.Priority
	if j.Rank = p.Rank(j); j.Priority == was {
		return false
	}
	moved := p.moved(j, was)
	for _, t := range j.By {
		moved = t.Begin.reorder() || moved
		moved = t.Urgent.reorder() || moved
	}
	p.turned = p.turned || moved
	return moved
}

// reorder moves a candidate that waits to the present position of its job, and reports whether another is the first of its group then.
func (c *Candidate) reorder() bool {
	if c.group == nil {
		return false
	}
	first := c.group.line[0]
	c.priority = c.Job.Priority
	heap.Fix(&c.group.line, c.pos)
	return c.group.line[0] != first
}

// Reorder restores all lines after the ranks of all jobs have changed.
func (p *Pool) Reorder() {
	mend := func(g *Group) {
		for _, d := range g.line {
			d.priority = d.Job.Priority
		}
		heap.Init(&g.line)
	}
	for _, g := range p.Groups {
		mend(g)
	}
	for _, n := range p.Nodes {
		if len(n.waiting.line) > 0 {
			mend(&n.waiting)
			p.Free(n) // another of the attempts that wait there may be first now
		}
	}
	p.turned = true
}

// Occupy adds an attempt to a node.
func (p *Pool) Occupy(n *Node, r *Running) {
	r.at = int32(len(n.Running))
	n.Running = append(n.Running, r)
	if !r.Share {
		r.Job.Live++
	}
	p.count(n, r, +1)
	p.expend(r)
}

// Pause notes that an attempt waits for a grant. Others may use what it does not use meanwhile.
func (p *Pool) Pause(n *Node, r *Running) {
	n.Unpause(r)
	r.waits = true
	p.GrantSort(n, r, 0)
	n.lend(r, r.Holds.Minus(p.Paused(r.Holds)))
}

// Shuffle notes whether a reduce that shuffles waits for maps. If so it uses almost no disk and network, and the
// maps may use them.
func (p *Pool) Shuffle(n *Node, r *Running, waits bool) {
	switch {
	case !r.Shuffles() || r.waits:
	case waits:
		idle := r.Holds.Minus(p.Paused(r.Holds))
		idle.Disk, idle.Net = r.Holds.Disk, r.Holds.Net
		n.lend(r, idle)
		p.Free(n)
	default:
		n.Unpause(r)
	}
}

// Idle notes whether an attempt is only what its programs have left, and does nothing. Others may use its cores, its disk and its network meanwhile.
// If it works again, more is in use for a while than the node has.
func (p *Pool) Idle(n *Node, r *Running, idle bool) {
	switch {
	case r.waits || r.Shuffles() || idle == r.idle:
	case idle:
		n.lend(r, job.Vector{CPU: r.Holds.CPU, Disk: r.Holds.Disk, Net: r.Holds.Net})
		r.idle = true
		n.idle++
		p.Free(n)
	default:
		n.Unpause(r)
	}
}

// lend frees what an attempt on the node holds and does not use.
func (n *Node) lend(r *Running, v job.Vector) {
	n.lent = n.lent.Minus(r.lent).Plus(v)
	r.lent = v
}

// Unpause takes back what a waiting attempt has lent.
func (n *Node) Unpause(r *Running) {
	n.lend(r, job.Vector{})
	if r.idle {
		n.idle--
	}
	r.waits, r.idle = false, false
}

// GrantSort grants an attempt on a node that many bytes for sorting and merging.
func (p *Pool) GrantSort(n *Node, r *Running, bytes int64) {
	n.sorting += bytes - r.Sort
	r.Sort = bytes
}

// Grant extends the grant of an attempt on a node up to a further phase, and sets what it then holds.
func (p *Pool) Grant(n *Node, r *Running, through job.Phase, holds job.Vector) {
	n.Unpause(r)
	p.count(n, r, -1)
	r.Through, r.Holds = through, holds
	p.count(n, r, +1)
}

// Vacate removes an attempt from its node, which used what it held for that time.
func (p *Pool) Vacate(n *Node, r *Running, took time.Duration) {
	p.correct(r, took)
	n.Unpause(r)
	p.GrantSort(n, r, 0)
	p.count(n, r, -1)
	last := len(n.Running) - 1
	n.Running[r.at] = n.Running[last]
	n.Running[r.at].at = r.at
	n.Running[last] = nil
	n.Running = n.Running[:last]
	if !r.Share {
		r.Job.Live--
	}
	if r.Of.Begin.Licensed != "" { // its licences are free for tasks on any node of the allocation
		for _, m := range p.Nodes {
			if m.Alloc == n.Alloc {
				p.Free(m)
			}
		}
	}
}

// count adds (sign 1) or subtracts (sign −1) what the attempt holds to the sums of its node and its job.
func (p *Pool) count(n *Node, r *Running, sign int) {
	j := r.Job
	n.shared = r.share(n.shared, sign)
	if u := r.Of.Begin.Licensed; u != "" && !r.Share && n.Alloc != nil { // it is nil of a job that is read again after its allocations are forgotten
		n.Alloc.use(u, sign)
	}
	if sign > 0 {
		n.Used, j.Held = n.Used.Plus(r.Holds), j.Held.Plus(r.Holds)
	} else {
		n.Used, j.Held = n.Used.Minus(r.Holds), j.Held.Minus(r.Holds)
	}
	if r.Behind {
		n.behind += sign
	}
	if !r.Shuffles() {
		return
	}
	n.Shuffles += sign
	n.ShuffleMem += int64(sign) * r.Holds.Memory
	before := j.Shuffles
	j.Shuffles += sign
	switch {
	case before == 0:
		p.shuffles = append(p.shuffles, j)
	case before+sign == 0:
		p.shuffles = slices.DeleteFunc(p.shuffles, func(k *Job) bool { return k == j })
	}
}
