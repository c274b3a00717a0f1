package engine

import (
	"fmt"
	"maps"
	"slices"

	"berth/internal/job"
	"berth/internal/sched"
)

// Missed returns a claim that the scheduler left waiting though a node has room for
// it, found by looking at everything; empty if there is none.
func (e *Engine) Missed() string {
	for _, p := range e.pools {
		classes := slices.SortedFunc(slices.Values(p.classes), func(c, d *class) int {
			if c.line[0].claim().Before(d.line[0].claim()) {
				return -1
			}
			return 1
		})
		var room int64 // of the largest map before
		for _, c := range classes {
			d := *c
			d.room = room
			if n := e.room(p, &d); n != nil {
				return fmt.Sprintf("%v of %s on %s (held %v)", c.key, c.line[0].job.work.ID, n.id, p.held)
			}
			if !c.hopeless {
				room = max(room, d.wantsRoom())
			}
		}
		for _, n := range p.nodes {
			if n.state == up && n.Waiting > 0 && !n.firstWaiter().hopeless(e.now) && n.firstWaiter().job.need(n.firstWaiter().id.Task).CPUs <= n.Free().CPUs {
				return fmt.Sprintf("%v, which waits for leave", n.firstWaiter().id)
			}
		}
	}
	return ""
}

// room returns a node that has room for the class and is not kept for a claim before it.
func (e *Engine) room(p *pool, c *class) *node {
	for _, n := range p.nodes {
		if n.state != up || !e.admits(c, n) || !n.inTime(e.now, c.key.span) || n.Health.Suspected(e.now) && p.hasTrusted(e.now) {
			continue
		}
		if n == p.held && p.heldFor.line[0].claim().Before(c.line[0].claim()) {
			kept := p.heldJob
			p.heldJob = p.heldFor.line[0].job
			spares := p.spares(c)
			p.heldJob = kept
			if !spares {
				continue
			}
		}
		return n
	}
	return nil
}

// Misplaced returns a job whose place in line is not what its state makes it, or a class
// whose head is not the first of its line, found by looking at everything; empty if there is none.
func (e *Engine) Misplaced() string {
	for _, p := range e.pools {
		for _, j := range p.active {
			left, rank := j.unstarted(), job.Time(0)
			if p.shortest {
				rank = sched.Rank(max(j.submitted, j.resumed), p.ageing, left[0], left[1])
			}
			if j.place.Rank != rank {
				return fmt.Sprintf("%s has rank %d, not %d", j.work.ID, j.place.Rank, rank)
			}
			if has := slices.ContainsFunc(j.sorted(), (*attempt).shuffling); has != slices.Contains(p.shufflers, j) {
				return fmt.Sprintf("%s has reduces that shuffle: %t", j.work.ID, has)
			}
			if w, sorting := left[0], j.sortingNow(); w.Tasks != j.queues[0].ready() || left[1].Tasks != j.queues[1].ready()+j.counts[1].running-sorting {
				return fmt.Sprintf("%s has %d and %d left to start", j.work.ID, w.Tasks, left[1].Tasks)
			}
		}
		for _, c := range p.classes {
			for _, q := range c.line {
				if q.claim().Before(c.line[0].claim()) {
					return fmt.Sprintf("%s goes before %s", q.job.work.ID, c.line[0].job.work.ID)
				}
			}
		}
	}
	return ""
}

// sortingNow counts the reduces that have leave for more than their shuffle.
func (j *jobState) sortingNow() int {
	n := 0
	for _, a := range j.live {
		if a.kind == job.ReduceTask && !a.shuffling() {
			n++
		}
	}
	return n
}

// Neglected returns what is left to itself in an elastic pool, found by looking at
// everything: a job with tasks that wait for nothing, an allocation that nobody can use,
// a reduce that cannot end in time; empty if there is none.
func (e *Engine) Neglected() string {
	for _, p := range e.pools {
		if !p.shape.elastic {
			continue
		}
		for _, j := range p.active {
			if s := e.neglected(j); s != "" {
				return s
			}
		}
		for _, a := range p.allocs {
			if reason, _ := e.spare(a); reason != "" {
				return fmt.Sprintf("%s: %s", a.id, reason)
			}
		}
		for _, n := range p.nodes {
			for _, a := range n.live {
				if n.state == up && a.dying() == "" && a.hopeless(e.now) {
					return fmt.Sprintf("%v shuffles though %s", a.id, tooLate)
				}
			}
		}
	}
	return ""
}

func (e *Engine) neglected(j *jobState) string {
	if _, ready := j.waits.next(); !ready {
		return ""
	}
	pr := e.served(j)
	if b := j.barren.n; b >= e.cfg.MaxBarren && len(j.live) == 0 && !pr.ok {
		return fmt.Sprintf("%s: %d allocations came to nothing, and it does not fail", j.work.ID, b)
	} else if b >= e.cfg.MaxBarren {
		return "" // what runs may be done yet
	}
	if !pr.ok && !j.plan.onWay && e.planAfter(j, pr) <= e.now {
		return fmt.Sprintf("%s: no allocation serves it and no plan is on the way", j.work.ID)
	}
	if j.waits.scout && !j.plan.onWay && e.planAfter(j, pr) <= e.now {
		return fmt.Sprintf("%s: it is not planned anew", j.work.ID)
	}
	if len(e.Explain(e.now, j.work.ID)) == 0 {
		return fmt.Sprintf("%s: nobody can say what it waits for", j.work.ID)
	}
	return ""
}

// NodeStatus is a node of an allocation that is not over.
type NodeStatus struct {
	ID        job.NodeID
	Host      string
	Addr      string // where its map outputs are served
	State     string // up, down or gone
	Since     job.Time
	Reason    string // why it is not up
	Capacity  job.Resources
	Used      job.Resources
	Running   int  // live attempts
	Suspected bool // kept away from for a while
}

// Nodes returns the nodes of all allocations that are not over.
func (e *Engine) Nodes() []NodeStatus {
	var all []NodeStatus
	for _, a := range e.allocList {
		for _, n := range a.nodes() {
			all = append(all, NodeStatus{
				ID: n.id, Host: n.host, Addr: n.addr, State: n.state.String(), Since: n.since, Reason: n.reason,
				Capacity: n.Capacity, Used: n.Used, Running: len(n.live), Suspected: n.Health.Suspected(e.now),
			})
		}
	}
	return all
}

// KnownNodes returns the names of the nodes in memory, sorted.
func (e *Engine) KnownNodes() []job.NodeID { return slices.Sorted(maps.Keys(e.nodes)) }
