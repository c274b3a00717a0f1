package cluster

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// grace is how long a job that is past its limit is taken to go on yet: Slurm's KillWait,
// the time between the signal and the end, as it is by default.
const grace = 30 * time.Second

// use is nodes that somebody has for a time.
type use struct {
	nodes    []int // of the snapshot
	share    job.Resources
	whole    bool // nobody else fits there, whatever is left
	from, to job.Time
}

// state is a usable node as the sweep goes on.
type state struct {
	node   int           // of the snapshot
	free   job.Resources // without what is used as a whole
	wholes int           // uses of it as a whole
	users  int           // all uses of it
	spread job.Time      // when the last running job that has other nodes, too, ends; 0: there is none
	fits   bool          // a worker does
}

// sweep puts into the timeline what is known node by node: running jobs, planned ones
// whose nodes are known, and reservations.
func (l *lineup) sweep() {
	uses := l.running()
	for i := range uses {
		l.take(&uses[i], 1)
	}
	uses = append(uses, l.unseen()...)
	rest := len(uses)
	uses = append(append(uses, l.planned()...), l.reservations()...)
	for i := rest; i < len(uses); i++ {
		if uses[i].from <= l.snap.At {
			l.take(&uses[i], 1)
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

// move is a use that begins or ends.
type move struct {
	at   job.Time
	use  *use
	sign int // 1: it begins
}

// replay goes through the uses as time goes on. What happens at one instant counts once
// it all has.
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
			l.take(moves[end].use, moves[end].sign)
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

// recount returns how many more of the nodes fit a worker than before.
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

// state returns a node as it stands, nil for one that is not usable.
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

// take begins or ends a use.
func (l *lineup) take(u *use, sign int) {
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
	}
}

// running returns what running jobs use, up to their limits; a job that is past its own
// ends in a moment.
func (l *lineup) running() []use {
	uses := make([]use, 0, len(l.queue.Running)+len(l.nodes)/4)
	for i := range l.queue.Running {
		j := &l.queue.Running[i]
		u := use{nodes: j.Nodes, share: j.PerNode, whole: l.whole(j), from: l.snap.At, to: timeline.Never}
		if j.Limit > 0 {
			u.to = timeline.After(j.Start, j.Limit)
			if u.to <= l.snap.At {
				u.to = l.snap.At.Add(grace)
			}
		}
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

// whole reports whether a job shares its nodes with nobody.
func (l *lineup) whole(j *Queued) bool {
	p := l.parts[j.Partition]
	return j.Whole || (p != nil && p.Whole)
}

// unseen takes what is used of nodes beyond what the running jobs explain. A job of
// several nodes may have more on one than on another, so where there is one the rest is
// its own; elsewhere it is somebody's who is not listed, up to the time limit at most.
func (l *lineup) unseen() []use {
	var uses []use
	limits := l.longest()
	for i := range l.nodes {
		n := &l.nodes[i]
		real := l.snap.Nodes[n.node].Free
		rest := job.Resources{CPUs: max(n.free.CPUs-real.CPUs, 0), Mem: max(n.free.Mem-real.Mem, 0)}
		if rest == (job.Resources{}) || n.wholes > 0 {
			continue
		}
		u := use{nodes: []int{n.node}, share: rest, from: l.snap.At, to: n.spread}
		if n.spread == 0 {
			l.facts.Unseen++
			u.to = timeline.After(l.snap.At, limits[n.node])
		}
		l.take(&u, 1)
		uses = append(uses, u)
	}
	return uses
}

// longest returns the longest time limit of the partitions of each node.
func (l *lineup) longest() []time.Duration {
	limits := make([]time.Duration, len(l.snap.Nodes))
	for _, p := range l.queue.Partitions {
		limit := p.MaxTime
		if limit == 0 {
			limit = timeline.Unbounded
		}
		for _, i := range p.Nodes {
			if i >= 0 && i < len(limits) {
				limits[i] = max(limits[i], limit)
			}
		}
	}
	for i, limit := range limits {
		if limit == 0 {
			limits[i] = timeline.Unbounded
		}
	}
	return limits
}

// planned returns what pending jobs will use whose start and nodes are planned.
func (l *lineup) planned() []use {
	var uses []use
	for i := range l.queue.Pending {
		j := &l.queue.Pending[i]
		if !exact(j) {
			continue
		}
		from := max(j.Start, l.snap.At)
		uses = append(uses, use{nodes: j.Nodes, share: j.PerNode, whole: l.whole(j), from: from, to: timeline.After(from, l.length(j))})
	}
	return uses
}

// exact reports whether a pending job is known to start, when and where.
func exact(j *Queued) bool { return j.Held == "" && j.Start > 0 && len(j.Nodes) > 0 }

// reservations returns what is kept for others, and for the one that is used the time
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
		} else {
			uses = append(uses, kept)
		}
	}
	return slices.DeleteFunc(uses, func(u use) bool { return u.from >= u.to || u.to <= l.snap.At })
}
