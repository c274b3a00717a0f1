package sched

import (
	"cmp"
	"slices"

	"berth/internal/core/explain"
	"berth/internal/core/job"
)

// Wait is Count attempts of a job that wait on a node for a grant to enter Phase, because of Shortages.
type Wait struct {
	Phase     job.Phase
	Count     int
	Shortages []explain.Shortage
}

// Waits returns why attempts of the job wait on the node for a grant, one Wait for each phase that they wait to enter.
// phase returns the phase of an attempt.
func (n *Node) Waits(j *Job, phase func(*Running) job.Phase) (waits []Wait) {
	for _, c := range n.bySince() {
		if c.Job != j {
			continue
		}
		at := slices.IndexFunc(waits, func(w Wait) bool { return w.Phase == c.Phase })
		if at < 0 {
			at = len(waits)
			waits = append(waits, Wait{Phase: c.Phase, Shortages: n.Shortages(j, c.more(), phase)})
		}
		waits[at].Count++
	}
	return waits
}

// Has returns the number of attempts of the job on the node.
func (n *Node) Has(j *Job) (count int) {
	for _, a := range n.Running {
		if a.Job == j {
			count++
		}
	}
	return count
}

// Shortages returns the resources of which the node has too little free for a phase of the job with the demand takes,
// and their holders: memory, GPUs, and the rates that even the scheduler with the fullest nodes would refuse. If there are none,
// it returns the rates of which less is free than the demand.
func (n *Node) Shortages(j *Job, takes job.Vector, phase func(*Running) job.Phase) (lacks []explain.Shortage) {
	free, has := n.FreeFor(takes), n.Capacity
	for _, f := range [...]fill{filled, whole} {
		for _, r := range [...]job.Resource{job.CPU, job.Memory, job.GPU, job.Disk, job.Net} {
			enough := f.enoughFree(takes.Of(r), has.Of(r)-free.Of(r), has.Of(r))
			if r == job.Memory || r == job.GPU {
				enough = takes.Of(r) <= max(0, free.Of(r))
			}
			if !enough {
				lacks = append(lacks, explain.Shortage{Resource: r, Need: takes.Of(r), Free: free.Of(r), Holders: n.holders(j, r, phase)})
			}
		}
		if len(lacks) > 0 {
			break
		}
	}
	return lacks
}

// holders returns the attempts that hold a resource of the node, the largest holders first. Attempts of the job itself
// have no job name.
func (n *Node) holders(j *Job, r job.Resource, phase func(*Running) job.Phase) (all []explain.Holder) {
	next := make(map[*Running]job.Phase, len(n.waiting.line))
	for _, c := range n.waiting.line {
		next[c.Running] = c.Phase
	}
	for _, a := range n.Running {
		h := explain.Holder{Job: a.Job.ID, Phase: phase(a)}
		if a.Job == j {
			h.Job = ""
		}
		if h.Phase == job.PhaseNone {
			h.Phase = a.Kind.Phases()[0] // its worker has not reported a phase yet
		}
		if to, ok := next[a]; ok {
			h.Phase, h.Waits = to, true
		}
		holds := a.Holds.Minus(a.lent).Of(r)
		if holds <= 0 {
			continue
		}
		at := slices.IndexFunc(all, func(k explain.Holder) bool { return k.Job == h.Job && k.Phase == h.Phase && k.Waits == h.Waits })
		if at < 0 {
			at, all = len(all), append(all, h)
		}
		all[at].Count++
		all[at].Holds += holds
	}
	slices.SortFunc(all, func(a, b explain.Holder) int {
		return cmp.Or(cmp.Compare(b.Holds, a.Holds), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Phase, b.Phase))
	})
	return all
}

// GangRoom is what a gang that waits needs, and what there is.
type GangRoom struct {
	Nodes int      // how many nodes of an allocation it needs at once; 0: none that is there or expected is large enough
	Free  int      // how many of the nodes of one allocation have room now for some of its ranks …
	Ranks int      // … and for how many
	Held  []*Node  // the nodes that are reserved for it
	Start job.Time // when it is expected to start there; 0: unknown
}

// GangRoom returns what the first candidate of the group of c, a gang, needs and has.
func (p *Pool) GangRoom(c *Candidate, now job.Time) (r GangRoom) {
	g := c.group
	r.Nodes = len(g.placeEver(p, now))
	free := make(map[*Alloc]*[2]int)
	for _, n := range p.Nodes {
		on := g.On(p.ranksNow(g, n, now))
		if free[n.Alloc] == nil {
			free[n.Alloc] = new([2]int)
		}
		if of := free[n.Alloc]; on > 0 {
			if of[0], of[1] = of[0]+1, of[1]+on; of[1] > r.Ranks {
				r.Free, r.Ranks = of[0], min(of[1], g.Gang.Ranks)
			}
		}
	}
	if p.heldFor != g {
		return r
	}
	for _, s := range p.held {
		r.Held = append(r.Held, s.Node)
	}
	if until := p.HeldUntil(); until > now {
		r.Start = until
	}
	return r
}
