package sched

import (
	"container/heap"
	"slices"

	"berth/internal/job"
)

// Pool is nodes and the candidates for them: what a policy decides over. After each change only
// nodes with something freed and classes with something new need a look, so a decision costs what has
// changed, however many nodes, jobs and tasks there are.
type Pool struct {
	Policy  Policy
	Nodes   []*Node    // that have been up and may come back
	Scale   int        // of its cores, see PoolScale; 0: it never had any
	Cores   int        // of the allocations that are there
	work    int64      // core-seconds of its jobs that are yet to begin
	Weights float64    // of its jobs together
	Unit    job.Vector // the most of each resource that a node of it has had, by which shares are measured

	Speeds Speeds // of the kinds of its nodes

	Classes  []*Class // of candidates that begin; none is empty
	byNeeds  map[Needs]*Class
	freed    []*Node // nodes with something freed since the policy last took them
	turned   bool    // the first of a class has changed, or Policy.Moved said so, since the last pass
	shuffles []*Job  // that have attempts which shuffle
	unpaced  []*Node // on which other reduces fetch than when rates were last shared out
}

// Put has a candidate wait in the class of its needs, and reports whether it did not do so already.
func (p *Pool) Put(c *Candidate) bool {
	if c.class != nil && (c.Running != nil || c.class.Needs == c.Needs) {
		return false
	}
	p.Remove(c)
	c.place = c.Job.Place
	if c.Running != nil {
		c.Node.waiting.push(c)
		return true
	}
	class := p.byNeeds[c.Needs]
	if class == nil {
		class = &Class{Needs: c.Needs}
		if p.byNeeds == nil {
			p.byNeeds = make(map[Needs]*Class)
		}
		p.byNeeds[c.Needs] = class
		p.Classes = append(p.Classes, class)
	}
	class.push(c)
	p.turned = p.turned || c.pos == 0
	return true
}

// Remove takes a candidate out of its class, and the class out of the pool with its last one. It
// reports whether the candidate had waited.
func (p *Pool) Remove(c *Candidate) bool {
	class := c.class
	if class == nil {
		return false
	}
	class.remove(c)
	if c.Running == nil && len(class.line) == 0 {
		delete(p.byNeeds, class.Needs)
		p.Classes = slices.DeleteFunc(p.Classes, func(d *Class) bool { return class == d })
	}
	return true
}

// Enter and Leave take in that a job shares the pool from now on, and that it does no more.
func (p *Pool) Enter(j *Job) { p.Weights += j.Weight }

func (p *Pool) Leave(j *Job) {
	p.Weights -= j.Weight
	p.work -= j.work
	j.work = 0
}

// reckon finds what is left to begin of the job anew, and of all jobs of the pool with it.
func (p *Pool) reckon(j *Job) {
	p.work -= j.work
	j.work = int64(j.Left[0].Work() + j.Left[1].Work())
	p.work += j.work
}

// Learn takes in an attempt of the job that was done on the node, and reports whether what its phases take is to be found anew.
func (p *Pool) Learn(n *Node, j *Job, stats []job.PhaseStat) bool {
	p.Speeds.learn(n.Kind, j, stats)
	return j.Known.Learn(stats)
}

// Free notes that something of the node has become free.
func (p *Pool) Free(n *Node) {
	if !n.freed {
		n.freed = true
		p.freed = append(p.freed, n)
	}
}

// Freed returns whether nodes wait to be looked at.
func (p *Pool) Freed() bool { return len(p.freed) > 0 }

// take returns the nodes with something freed since the last call, whose result is used again.
func (p *Pool) take(before []*Node) []*Node {
	freed := p.freed
	p.freed = before[:0]
	for _, n := range freed {
		n.freed = false
	}
	return freed
}

// Changed has all nodes looked at again: one came, went or is trusted anew.
func (p *Pool) Changed() {
	for _, c := range p.Classes {
		c.blocked = false
	}
}

// Rerank finds the place of a job anew after anything about it has changed, and those of its candidates
// that begin. It reports whether something may start because of that. It costs the logarithm
// of the number of jobs, and a look at each class.
func (p *Pool) Rerank(j *Job) bool {
	p.reckon(j)
	was := j.Place
	if j.Rank = p.Policy.Rank(p, j); j.Place == was {
		return false
	}
	moved := p.Policy.Moved(p, j, was)
	for _, c := range j.begins() {
		if c.class != nil {
			first := c.class.line[0]
			c.place = j.Place
			heap.Fix(&c.class.line, c.pos)
			moved = moved || c.class.line[0] != first
		}
	}
	p.turned = p.turned || moved
	return moved
}

// Reorder mends all lines after the ranks of all jobs were found anew.
func (p *Pool) Reorder() {
	mend := func(c *Class) {
		for _, d := range c.line {
			d.place = d.Job.Place
		}
		heap.Init(&c.line)
	}
	for _, c := range p.Classes {
		mend(c)
	}
	for _, n := range p.Nodes {
		if len(n.waiting.line) > 0 {
			mend(&n.waiting)
			p.Free(n) // another of those that wait there may be the first now
		}
	}
	p.turned = true
}

// Occupy puts an attempt onto a node.
func (p *Pool) Occupy(n *Node, r *Running) {
	r.at = int32(len(n.Running))
	n.Running = append(n.Running, r)
	r.Job.Live++
	p.count(n, r, +1)
}

// Pause takes in that an attempt waits for a grant to go on: what it does not use meanwhile others may.
func (p *Pool) Pause(n *Node, r *Running) {
	n.Unpause(r)
	r.waits = true
	p.GrantSort(n, r, 0)
	n.lend(r, r.Holds.Minus(p.Policy.Paused(r.Holds)))
}

// Shuffle takes in whether a reduce that shuffles has to wait for maps: then it uses next to nothing of disk and network, and
// the maps may.
func (p *Pool) Shuffle(n *Node, r *Running, waits bool) {
	switch {
	case !r.Shuffles() || r.waits:
	case waits:
		idle := r.Holds.Minus(p.Policy.Paused(r.Holds))
		idle.Disk, idle.Net = r.Holds.Disk, r.Holds.Net
		n.lend(r, idle)
		p.Free(n)
	default:
		n.Unpause(r)
		p.unpace(n)
	}
}

// lend lets others have what an attempt on the node holds and does not use.
func (n *Node) lend(r *Running, v job.Vector) {
	n.lent = n.lent.Minus(r.lent).Plus(v)
	r.lent = v
}

// Unpause takes back what an attempt has lent, if it waited.
func (n *Node) Unpause(r *Running) {
	n.lend(r, job.Vector{})
	r.waits = false
}

// GrantSort has an attempt on a node sort and merge in so many bytes.
func (p *Pool) GrantSort(n *Node, r *Running, bytes int64) {
	n.sorting += bytes - r.Sort
	r.Sort = bytes
}

// Grant gives an attempt on a node leave through a further phase, with what it then holds.
func (p *Pool) Grant(n *Node, r *Running, leave job.Phase, holds job.Vector) {
	n.Unpause(r)
	p.count(n, r, -1)
	r.Through, r.Holds = leave, holds
	p.count(n, r, +1)
}

// Vacate takes an attempt off its node.
func (p *Pool) Vacate(n *Node, r *Running) {
	n.Unpause(r)
	p.GrantSort(n, r, 0)
	p.count(n, r, -1)
	last := len(n.Running) - 1
	n.Running[r.at] = n.Running[last]
	n.Running[r.at].at = r.at
	n.Running[last] = nil
	n.Running = n.Running[:last]
	r.Job.Live--
}

// count adds what the attempt holds to the sums of its node and its job, or takes it away.
func (p *Pool) count(n *Node, r *Running, sign int) {
	j := r.Job
	if sign > 0 {
		n.Used, j.Held = n.Used.Plus(r.Holds), j.Held.Plus(r.Holds)
	} else {
		n.Used, j.Held = n.Used.Minus(r.Holds), j.Held.Minus(r.Holds)
	}
	if !r.Shuffles() {
		return
	}
	p.unpace(n)
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
