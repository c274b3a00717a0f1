package sched

import (
	"cmp"
	"slices"

	"berth/internal/job"
	"berth/internal/why"
)

// Waits returns why attempts of the job wait on the node for a grant to go on: for each phase that they wait to begin how many
// do, of what the node has too little for one of them, and who has that. phase tells in which phase an attempt is.
func (n *Node) Waits(j *Job, phase func(*Running) job.Phase) (reasons []why.Reason) {
	for _, c := range n.bySince() {
		if c.Job != j {
			continue
		}
		at := slices.IndexFunc(reasons, func(r why.Reason) bool { return r.Phase == c.Phase })
		if at < 0 {
			at = len(reasons)
			reasons = append(reasons, why.Reason{Kind: why.PhaseWaits, Phase: c.Phase, Lacks: n.Lacks(j, c.more(), phase)})
		}
		reasons[at].Count++
	}
	return reasons
}

// Has returns how many attempts of the job the node has.
func (n *Node) Has(j *Job) (count int) {
	for _, a := range n.Running {
		if a.Job == j {
			count++
		}
	}
	return count
}

// Lacks returns of what the node has too little for a phase of the job that takes so much, and who has that: memory, and those
// rates of which there is too little even for a policy that fills nodes as far as any; where there is none, those of which less is
// free than it takes.
func (n *Node) Lacks(j *Job, takes job.Vector, phase func(*Running) job.Phase) (lacks []why.Lack) {
	free, has := n.Free(), n.Capacity
	for _, f := range [...]fill{filled, whole} {
		for _, r := range job.AllResources() {
			enough := f.rate(takes.Of(r), has.Of(r)-free.Of(r), has.Of(r))
			if r == job.Memory {
				enough = takes.Memory <= max(0, free.Memory)
			}
			if !enough {
				lacks = append(lacks, why.Lack{Resource: r, Need: takes.Of(r), Free: free.Of(r), Holders: n.holders(j, r, phase)})
			}
		}
		if len(lacks) > 0 {
			break
		}
	}
	return lacks
}

// holders returns who holds a resource of the node, those first that hold most. Attempts of the job itself are without its name.
func (n *Node) holders(j *Job, r job.Resource, phase func(*Running) job.Phase) (all []why.Holder) {
	next := make(map[*Running]job.Phase, len(n.waiting.line))
	for _, c := range n.waiting.line {
		next[c.Running] = c.Phase
	}
	for _, a := range n.Running {
		h := why.Holder{Job: a.Job.ID, Phase: phase(a)}
		if a.Job == j {
			h.Job = ""
		}
		if h.Phase == job.PhaseNone {
			h.Phase = a.Kind.Phases()[0] // its worker has not told of it yet
		}
		if to, ok := next[a]; ok {
			h.Phase, h.Waits = to, true
		}
		holds := a.Holds.Minus(a.lent).Of(r)
		if holds <= 0 {
			continue
		}
		at := slices.IndexFunc(all, func(k why.Holder) bool { return k.Job == h.Job && k.Phase == h.Phase && k.Waits == h.Waits })
		if at < 0 {
			at, all = len(all), append(all, h)
		}
		all[at].Count++
		all[at].Holds += holds
	}
	slices.SortFunc(all, func(a, b why.Holder) int {
		return cmp.Or(cmp.Compare(b.Holds, a.Holds), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Phase, b.Phase))
	})
	return all
}

// Fair reports whether jobs come by their fair share, and not by when they came or by what is left of them.
func (s Scheduler) Fair() bool { return s == Slots || s == Packing || s == Prism }

// WholeCores reports whether tasks hold whole cores and nothing else but memory.
func (s Scheduler) WholeCores() bool { return s == Cores || s == "" }
