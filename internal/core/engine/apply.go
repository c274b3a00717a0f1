package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// apply is the only function that changes the state. It decides nothing, as a record has
// happened. A record may not fit the state, because the journals of jobs and nodes
// can be cut short at different positions; then it changes what it can.
func (e *Engine) apply(at job.Time, r event.Record) {
	switch r := r.(type) {
	case event.JobSubmitted:
		e.applySubmitted(at, r)
	case event.AttemptStarted:
		e.applyStarted(at, r)
	case event.PhaseEntered:
		if a := e.runningAttempt(r.Attempt); a != nil {
			a.phase = r.Phase
		}
	case event.PhaseGranted:
		if a := e.runningAttempt(r.Attempt); a != nil && r.Phase > a.Through {
			e.applyGrant(at, a, r.Phase)
		}
	case event.CommitGranted:
		if a := e.runningAttempt(r.Attempt); a != nil {
			a.commit, a.asked = true, true
			e.giveUpDuplicate(a)
		}
	case event.AttemptEnded:
		e.applyEnded(at, r)
	case event.OutputLost, event.OutputHeld:
		e.applyOutput(r)
	default:
		if r.Of() == "" {
			e.applyNode(at, r)
		} else if j := e.jobs[r.Of()]; j != nil {
			e.applyJob(at, j, r)
		}
	}
}

// applyNode applies the records of nodes and allocations.
func (e *Engine) applyNode(at job.Time, r event.Record) {
	switch r := r.(type) {
	case event.NodeJoined:
		e.applyJoined(at, r)
	case event.NodeLost:
		e.applyLost(at, r)
	case event.AllocRequested:
		e.applyRequested(at, r)
	case event.AllocBegan:
		e.applyBegan(at, r)
	case event.AllocEnded:
		e.applyAllocEnded(at, r)
	case event.AllocCleared:
		e.applyCleared(r)
	case event.AllocPaused, event.AllocUsed: // for reports alone
	default:
		panic(fmt.Sprintf("engine: unknown record %T", r))
	}
}

// runningAttempt returns the running attempt with that id, nil if there is none.
func (e *Engine) runningAttempt(id job.Attempt) *attempt { return e.jobs[id.Job].runningAttempt(id) }

func (e *Engine) applyJoined(at job.Time, r event.NodeJoined) {
	n := e.node(r.Node)
	a := n.alloc
	if a == nil {
		return
	}
	if !n.joined {
		n.joined = true
		a.joined++
		if a.joined == 1 {
			a.Due = at.Add(e.cfg.NodeTimeout)
			a.first = at
			if !a.begun && a.req.Time > 0 && !a.pool.shape.Endless() {
				a.Ends = at.Add(a.req.Time) // slightly too late, until the batch system reports the end
			}
			e.allocStarted(a)
			a.pool.measureStartUp(a)
			e.resize(a.pool)
		}
		if a.Missing, a.PerNode = a.req.Nodes-a.joined, a.req.PerNode; a.Missing <= 0 {
			a.Due = 0
		}
	}
	if !slices.Contains(a.pool.nodes, n) {
		a.pool.nodes = append(a.pool.nodes, n)
		a.pool.Nodes = append(a.pool.Nodes, &n.Node)
	}
	n.Away = false
	n.Up, n.state, n.since, n.reason, n.unseen = true, up, at, "", false
	n.Host, n.addr, n.Capacity, n.outputs, n.Kind = r.Host, r.Addr, r.Capacity.Vector(), r.Outputs, a.pool.Speeds.Kind(r.Type)
	n.GPUType = r.Capacity.GPUType
	n.SortMemory = a.req.SortMemory / 4 * 3 // the worker needs the rest for itself
	e.widenPool(a.pool, n.Capacity)
	a.noteCapacity(r.Capacity)
	e.nodeFreed(n) // attempts on it may wait for a grant
	e.changed(a.pool)
	e.touchAllocs()
}

func (e *Engine) applyLost(at job.Time, r event.NodeLost) {
	n := e.node(r.Node)
	if n.state == gone {
		return
	}
	n.Up, n.state, n.since, n.reason = false, down, at, r.Reason
	n.unseen = n.unseen || r.Unseen
	if n.Away = !r.Gone; r.Gone {
		n.state = gone
		n.alloc.shrink()
	}
	for _, a := range e.attemptsOn(n) {
		e.touchJob(a.job) // the job may wait for nothing else
	}
	if n.alloc != nil {
		e.changed(n.alloc.pool)
	}
	e.touchAllocs()
}

// node returns the node with that id, and creates it if it is unknown.
func (e *Engine) node(id job.NodeID) *node {
	n := e.nodes[id]
	if n == nil {
		n = &node{id: id, state: gone}
		n.Index = len(e.nodeList)
		e.nodeList = append(e.nodeList, n)
		e.nodes[id] = n
	}
	if n.alloc == nil || n.alloc.ended {
		e.Reserve(id.Alloc())
		if a := e.allocs[id.Alloc()]; a != nil && !a.ended {
			n.alloc, n.Alloc = a, &a.Alloc
		}
	}
	return n
}

func (e *Engine) applyRequested(at job.Time, r event.AllocRequested) {
	e.Reserve(r.Alloc)
	if e.allocs[r.Alloc] != nil {
		return
	}
	p := e.poolFor(job.ShapeOf(r.Request))
	a := &alloc{id: r.Alloc, req: r.Request, pool: p, requested: at, job: r.Job}
	a.Licences = r.Request.Batch.Licences
	if j := e.jobs[r.Job]; j != nil {
		j.asked++
	}
	e.allocs[a.id] = a
	e.allocList = append(e.allocList, a)
	p.allocs = append(p.allocs, a)
	e.touchAllocs()
}

// Reserve makes sure that the number of an allocation is not used again. It is also called before Recover for those that this engine does not know.
func (e *Engine) Reserve(id job.AllocID) {
	if n, err := strconv.Atoi(strings.TrimPrefix(string(id), "a")); err == nil {
		e.lastAlloc = max(e.lastAlloc, n)
	}
}

func (e *Engine) applyAllocEnded(at job.Time, r event.AllocEnded) {
	a := e.allocs[r.Alloc]
	if a == nil {
		return
	}
	delete(e.allocs, a.id)
	same := func(b *alloc) bool { return a == b }
	e.allocList = slices.DeleteFunc(e.allocList, same)
	p := a.pool
	p.allocs = slices.DeleteFunc(p.allocs, same)
	for _, n := range p.nodes {
		if n.alloc == a && n.state != gone {
			n.Up, n.Away, n.state, n.since, n.reason = false, false, gone, at, "allocation "+string(a.id)+" is over: "+r.Reason
		}
	}
	a.ended, a.endedAt = true, at
	for _, j := range p.active {
		j.knew.left, j.knew.vain = 0, 0 // what an open bag still has must not crowd into what is left by chance
	}
	e.applyOver(a, r)
	p.nodes = slices.DeleteFunc(p.nodes, func(n *node) bool { return n.alloc == a })
	p.Nodes = slices.DeleteFunc(p.Nodes, func(n *sched.Node) bool { return n.Alloc == &a.Alloc })
	e.changed(p)
	e.resize(p)
	e.prunePool(p)
	e.touchAllocs()
}
