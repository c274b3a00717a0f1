package cluster

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// grace is how long a job is assumed to go on past its limit: the default of Slurm's KillWait, the time between the
// signal and the end.
const grace = 30 * time.Second

// use is the use of nodes by a job or reservation for a time.
type use struct {
	nodes    []int // of the snapshot
	share    job.Resources
	whole    bool // no other job fits there, whatever is free
	from, to job.Time
}

// state is the state of a usable node during the sweep.
type state struct {
	node   int           // of the snapshot
	free   job.Resources // capacity less the shares in use; uses of the whole node do not count
	wholes int           // number of uses of the whole node
	users  int           // number of all uses
	spread job.Time      // end of the last running job that has other nodes, too; 0: there is none
	fits   bool          // a worker fits
}

// sweepUses adds to the timeline the uses whose nodes are known: running jobs, pending jobs with planned nodes, and
// reservations.
func (l *lineup) sweepUses() {
	uses := l.running()
	for i := range uses {
		l.applyUse(&uses[i], 1)
	}
	uses = append(uses, l.unseen()...)
	rest := len(uses)
	uses = append(append(uses, l.planned()...), l.reservations()...)
	for i := rest; i < len(uses); i++ {
		if uses[i].from <= l.snap.At {
			l.applyUse(&uses[i], 1)
		}
	}
	free := 0
	for i := range l.nodes {
		if n := &l.nodes[i]; l.fits(n) {
			n.fits = true
			free++
		}
	}
	l.line.Add(l.snap.At, timeline.Never, free)
	l.replay(uses)
}

// move is the begin or the end of a use.
type move struct {
	at   job.Time
	use  *use
	sign int // 1: it begins
}

// replay applies the begins and ends of uses in the order of time. All changes at one instant count together.
func (l *lineup) replay(uses []use) {
	moves := make([]move, 0, 2*len(uses))
	for i := range uses {
		u := &uses[i]
		if u.from > l.snap.At {
			moves = append(moves, move{u.from, u, 1})
		}
		if u.to != timeline.Never {
			moves = append(moves, move{u.to, u, -1})
		}
	}
	slices.SortFunc(moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	for start := 0; start < len(moves); {
		end := start
		for end < len(moves) && moves[end].at == moves[start].at {
			l.applyUse(moves[end].use, moves[end].sign)
			end++
		}
		change := 0
		for _, m := range moves[start:end] {
			change += l.recount(m.use.nodes)
		}
		l.line.Add(moves[start].at, timeline.Never, change)
		start = end
	}
}

// recount returns by how much the number of nodes grows that fit a worker.
func (l *lineup) recount(nodes []int) (more int) {
	for _, i := range nodes {
		n := l.state(i)
		if n == nil || n.fits == l.fits(n) {
			continue
		}
		n.fits = !n.fits
		if n.fits {
			more++
		} else {
			more--
		}
	}
	return more
}

// state returns the state of a node, nil for one that is not usable.
func (l *lineup) state(i int) *state {
	if i < 0 || i >= len(l.usable) || l.usable[i] == none {
		return nil
	}
	return &l.nodes[l.usable[i]]
}

// fits reports whether a worker could begin on a node.
func (l *lineup) fits(n *state) bool {
	if l.view.Whole {
		return n.users == 0
	}
	return n.wholes == 0 && l.view.PerNode.Fits(n.free)
}

// applyUse applies the begin (sign 1) or the end (sign −1) of a use.
func (l *lineup) applyUse(u *use, sign int) {
	for _, i := range u.nodes {
		n := l.state(i)
		if n == nil {
			continue
		}
		n.users += sign
		if u.whole {
			n.wholes += sign
			continue
		}
		n.free.CPUs -= sign * u.share.CPUs
		n.free.Mem -= int64(sign) * u.share.Mem
		n.free.GPUs -= sign * gpusOf(u.share, n.free.GPUType)
	}
}

// gpusOf returns how many GPUs of a node's type a job has of it: those of another type are not among the node's.
func gpusOf(share job.Resources, kind string) int {
	if !share.SuitsType(kind) {
		return 0
	}
	return share.GPUs
}

// running returns the uses of running jobs, up to their limits; a job past its limit ends after grace.
func (l *lineup) running() []use {
	uses := make([]use, 0, len(l.queue.Running)+len(l.nodes)/4)
	for i := range l.queue.Running {
		j := &l.queue.Running[i]
		u := use{nodes: j.Nodes, share: j.PerNode, whole: l.wholeNodes(j), from: l.snap.At, to: l.snap.latestEnd(j)}
		uses = append(uses, u)
		if len(j.Nodes) > 1 && !u.whole {
			for _, i := range j.Nodes {
				if n := l.state(i); n != nil {
					n.spread = max(n.spread, u.to)
				}
			}
		}
	}
	return uses
}

// wholeNodes reports whether a job shares its nodes with no other job.
func (l *lineup) wholeNodes(j *Queued) bool {
	p := l.parts[j.Partition]
	return j.Whole || (p != nil && p.Whole)
}

// unseen returns the resources in use that the running jobs do not explain. A job of several nodes may use more on
// one node than on another, so on its nodes the rest counts as its own; on other nodes it counts as the use of an
// unlisted job, up to the longest time limit.
func (l *lineup) unseen() []use {
	var uses []use
	limits := l.longest()
	for i := range l.nodes {
		n := &l.nodes[i]
		real := l.snap.Nodes[n.node].Free
		rest := job.Resources{CPUs: max(n.free.CPUs-real.CPUs, 0), Mem: max(n.free.Mem-real.Mem, 0), GPUs: max(n.free.GPUs-real.GPUs, 0)}
		if rest == (job.Resources{}) || n.wholes > 0 {
			continue
		}
		u := use{nodes: []int{n.node}, share: rest, from: l.snap.At, to: n.spread}
		if n.spread == 0 {
			l.facts.Unseen++
			u.to = timeline.After(l.snap.At, limits[n.node])
		}
		l.applyUse(&u, 1)
		uses = append(uses, u)
	}
	return uses
}

// longest returns the longest time limit among the partitions of each node.
func (l *lineup) longest() []time.Duration {
	limits := make([]time.Duration, len(l.snap.Nodes))
	for _, p := range l.queue.Partitions {
		for _, i := range p.Nodes {
			if i >= 0 && i < len(limits) {
				limits[i] = max(limits[i], cmp.Or(p.MaxTime, timeline.Unbounded))
			}
		}
	}
	for i, limit := range limits {
		limits[i] = cmp.Or(limit, timeline.Unbounded)
	}
	return limits
}

// planned returns the uses of pending jobs whose start and nodes are planned.
func (l *lineup) planned() []use {
	var uses []use
	for i := range l.queue.Pending {
		j := &l.queue.Pending[i]
		if !startKnown(j) {
			continue
		}
		from := max(j.Start, l.snap.At)
		uses = append(uses, use{nodes: j.Nodes, share: j.PerNode, whole: l.wholeNodes(j), from: from, to: timeline.After(from, l.length(j))})
	}
	return uses
}

// startKnown reports whether the start and the nodes of a pending job are known.
func startKnown(j *Queued) bool { return j.Held == "" && j.Start > 0 && len(j.Nodes) > 0 }

// reservations returns the times in which nodes are reserved for others, and, of the reservation in use, the times
// before and after it.
func (l *lineup) reservations() []use {
	var uses []use
	mine := l.reserved()
	for i := range l.queue.Reservations {
		r := &l.queue.Reservations[i]
		end := r.End
		if end <= 0 {
			end = timeline.Never
		}
		kept := use{nodes: r.Nodes, whole: true, from: r.Start, to: end}
		if r == mine {
			before, past := kept, kept
			before.from, before.to = l.snap.At, r.Start
			past.from, past.to = end, timeline.Never
			uses = append(uses, before, past)
		} else if !r.Magnetic || !l.admits(r) {
			uses = append(uses, kept)
		}
	}
	return slices.DeleteFunc(uses, func(u use) bool { return u.from >= u.to || u.to <= l.snap.At })
}
