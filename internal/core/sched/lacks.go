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
	free, has := n.Free(), n.Capacity
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
