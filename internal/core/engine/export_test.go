package engine

import (
	"fmt"
	"maps"
	"slices"

	"berth/internal/core/job"
)

// Missed returns something that could start and that the policy left waiting, found by a search over
// everything; empty if there is nothing.
func (e *Engine) Missed() string {
	for _, p := range e.pools {
		p.Changed()
		for _, n := range p.Nodes {
			p.Free(n)
		}
		for d := range p.Decisions(e.now) {
			if d.Node != nil {
				return fmt.Sprintf("%+v of %s on %s", d.Candidate.Needs, d.Candidate.Job.ID, e.nodeList[d.Node.Index].id)
			}
		}
	}
	return ""
}

// Misplaced returns a job whose position in line does not match its state, found by a search over
// everything; empty if there is none.
func (e *Engine) Misplaced() string {
	for _, p := range e.pools {
		for _, j := range p.active {
			if rank := p.Rank(&j.Job); j.Rank != rank {
				return fmt.Sprintf("%s has rank %d, not %d", j.ID, j.Rank, rank)
			}
			if n := j.shuffling(); n != j.Shuffles {
				return fmt.Sprintf("%s has %d reduces that shuffle, not %d", j.ID, j.Shuffles, n)
			}
			for k, t := range j.of {
				want := t.waiting() + t.blocked
				if t.Kind() == job.ReduceTask {
					want += j.shuffling()
				}
				if t.Left.Tasks != want {
					return fmt.Sprintf("%s has %d left to start of the needs %d, not %d", j.ID, t.Left.Tasks, k, want)
				}
			}
		}
	}
	return ""
}

// shuffling counts the reduces whose grant covers their shuffle only.
func (j *jobState) shuffling() int {
	n := 0
	for _, a := range j.sorted() {
		if a.Kind == job.ReduceTask && a.Through == job.PhaseShuffle {
			n++
		}
	}
	return n
}

// Neglected returns what makes no progress, found by a search over
// everything: a job with tasks that wait for nothing, an allocation that no job can use,
// a reduce that is to be killed; empty if there is none. With explained, also a job that waits for nothing that Explain says.
func (e *Engine) Neglected(explained bool) string {
	for _, p := range e.pools {
		for _, j := range p.active {
			if s := e.neglected(j, explained); s != "" {
				return s
			}
		}
		for _, a := range p.allocs {
			if reason, _ := e.whyGiveBack(a); reason != "" {
				return fmt.Sprintf("%s: %s", a.id, reason)
			}
		}
		for _, n := range p.nodes {
			for _, a := range e.attemptsOn(n) {
				if why := a.whyKill(e.now); why != "" && n.state == up && a.KillReason == "" {
					return fmt.Sprintf("%v shuffles though %s", a.ID, why)
				}
			}
		}
	}
	return ""
}

func (e *Engine) neglected(j *jobState, explained bool) string {
	if !j.hasReady() {
		return ""
	}
	pr, of := e.served(j)
	_, at := e.whyPlan(j, pr, of)
	if b := &j.unproductive; b.exhausted() && j.Live == 0 && !pr.ok {
		return fmt.Sprintf("%s: %d allocations came to nothing, and it does not fail", j.work.ID, b.n+b.early)
	} else if b.exhausted() {
		return "" // running attempts may still be done
	}
	if !pr.ok && !j.plan.onWay && at <= e.now {
		return fmt.Sprintf("%s: no allocation serves it and no plan is on the way", j.work.ID)
	}
	if j.measured && !j.plan.onWay && at <= e.now {
		return fmt.Sprintf("%s: it is not planned anew", j.work.ID)
	}
	if explained && len(e.Explain(e.now, j.work.ID)) == 0 {
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
	Running   int  // running attempts
	Suspected bool // avoided for a while
}

// Nodes returns the nodes of all allocations that are not over.
func (e *Engine) Nodes() []NodeStatus {
	var all []NodeStatus
	for _, a := range e.allocList {
		for _, n := range a.nodes() {
			all = append(all, NodeStatus{
				ID: n.id, Host: n.Host, Addr: n.addr, State: n.state.String(), Since: n.since, Reason: n.reason,
				Capacity: n.Capacity.Resources(), Used: n.Used.Resources(), Running: len(n.Running), Suspected: n.Health.Suspected(e.now),
			})
		}
	}
	return all
}

// KnownNodes returns the names of the nodes in memory, sorted.
func (e *Engine) KnownNodes() []job.NodeID { return slices.Sorted(maps.Keys(e.nodes)) }

// AllocStatus is an allocation that is not over.
type AllocStatus struct {
	ID        job.AllocID
	Request   job.AllocRequest
	Requested job.Time
	Joined    int  // number of nodes that have ever been up
	Idle      bool // no remaining job can run on it

	Job   job.ID   // the job for which it was requested; empty: all jobs of its shape
	Begun bool     // the batch system has started it, or a node is up
	Began job.Time // … since then
	Ends  job.Time // end of its wall time; 0: it has no end, or has not begun
	Note  string   // while it waits: the reason, by the batch system
	Start job.Time // while it waits: the start that the batch system or else the plan expects; 0: unknown
}

// AllocStatuses returns the allocations that are not over, oldest first.
func (e *Engine) AllocStatuses() []AllocStatus {
	all := make([]AllocStatus, len(e.allocList))
	for i, a := range e.allocList {
		all[i] = e.allocStatus(a)
	}
	return all
}

func (e *Engine) allocStatus(a *alloc) AllocStatus {
	s := AllocStatus{ID: a.id, Request: a.req, Requested: a.requested, Joined: a.joined, Idle: a.idle(),
		Job: a.job, Begun: a.hasBegun(), Began: a.beganAt(), Ends: a.Ends}
	if s.Begun {
		s.Idle = a.live == 0 && !e.offers(a).ok
	} else {
		s.Note, s.Start = a.note, a.start
		if s.Start == 0 {
			s.Start = a.req.Start
		}
	}
	return s
}
