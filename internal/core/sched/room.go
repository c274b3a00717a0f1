package sched

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
)

// admits reports whether the node has room for the first candidate of the group. A candidate without memory also has
// room where one attempt with a node of its own holds more than the capacity.
//
// In the order Shortest, reduces of a large job, which may shuffle for as long as its maps last, must not
// keep out those of a small job. So only reduces of jobs that come before count against the limit of shuffles,
// as if the others had not started yet.
func (p *Pool) admits(g *Group, n *Node) bool {
	if g.Demand.GPU > n.FreeFor(g.Demand).GPU || !n.suits(&g.Needs) || !n.Alloc.Has(g.Licensed, true) {
		return false
	}
	if mem := g.Demand.Memory; mem > max(0, n.Free().Memory)-n.wanted() && (n.Used.Memory > 0 || g.Peak.Memory > n.Capacity.Memory) || !p.Fits(n, g.line[0]) {
		return false
	}
	if !g.shuffles() {
		return true
	}
	if j := g.line[0].Job; j.madeRoom && j.Waits { // otherwise two jobs could take room from each other forever
		return false
	}
	beside := n.Shuffles
	if p.shortest && beside >= p.Shuffles(n) {
		beside = n.shufflesUpTo(g.line[0].Job)
	}
	return beside < p.Shuffles(n) && n.leavesRoom(&g.Needs, g.Reserved())
}

// shufflesUpTo returns how many reduces of that job and of those before it shuffle on the node.
func (n *Node) shufflesUpTo(j *Job) int {
	count := 0
	for _, a := range n.Running {
		if a.Shuffles() && !j.Before(a.Job.Priority) {
			count++
		}
	}
	return count
}

// wantsRoom returns the bytes that shuffling reduces of later jobs must leave free so that the next
// task of the group, which found no room, can ever run; 0: none.
func (p *Pool) wantsRoom(g *Group) int64 {
	switch {
	case g.Urgent: // its job has what it needs
	case g.Kind == job.MapTask:
		return g.Demand.Memory
	case g.shuffles() && p.shortest && !g.line[0].Job.Waits:
		return g.Demand.Memory + g.room // it could run to its end at once
	}
	return 0
}

// unobstruct returns the attempts to end so that a map gets mem bytes, if shuffling reduces hold the memory of
// every node that the map could run on, and themselves wait for maps of their jobs. That happens when a map
// runs again after all were done and shuffles have used the room that was reserved for maps. Reduces of
// earlier jobs are left alone: their maps come first, so they end by themselves.
//
// In the order Shortest it also happens when a job comes that goes before those which shuffle, and then
// it applies to its reduces as well: otherwise a small job would wait for all maps of a large one. Ending a
// reduce costs what it has fetched and no computation, as no reduce is ended that has all its input.
// There is no deadlock when jobs overtake each other: while nothing starts or ends, no position changes, and the
// first in line gets its room as above. What was ended starts again only where it leaves that room
// (Group.room), so two jobs do not take room from each other forever.
func (p *Pool) unobstruct(g *Group, mem int64, now job.Time) (end []*Running) {
	first := g.line[0].Job
	var victim *Node
	for _, n := range p.Nodes {
		need := n.within(g, mem)
		if !n.couldRun(g, now) || need > n.Capacity.Memory { // ending attempts cannot free more than the capacity
			continue
		}
		if !n.Obstructed(need) || n.Capacity.Memory-n.stuck(first) >= need {
			return nil
		}
		if victim == nil {
			victim = n
		}
	}
	if victim == nil {
		return nil
	}
	stuck, mem := victim.stuck(first), victim.within(g, mem)
	for _, a := range slices.SortedFunc(slices.Values(victim.Running), lastInLine) {
		if victim.Capacity.Memory-stuck >= mem {
			break
		}
		if a.stuck(first) {
			end = append(end, a)
			stuck -= a.Holds.Memory
		}
	}
	return end
}

// within returns mem, where a demand of the group above the capacity of the node counts as its capacity.
func (n *Node) within(g *Group, mem int64) int64 {
	return mem - max(0, g.Demand.Memory-n.Capacity.Memory)
}

// stuck returns the memory of the reduces on the node that shuffle and wait for maps, of jobs that do not come
// before first in the line.
func (n *Node) stuck(first *Job) int64 {
	var sum int64
	for _, a := range n.Running {
		if a.stuck(first) {
			sum += a.Holds.Memory
		}
	}
	return sum
}

func (r *Running) stuck(first *Job) bool {
	return r.Shuffles() && r.Holds.Memory > 0 && r.KillReason == "" && !r.Job.Before(first.Priority) && r.Job.Waits
}

// lastInLine sorts attempts by the positions of their jobs, the last first.
func lastInLine(a, b *Running) int {
	switch {
	case a.Job.Before(b.Job.Priority):
		return 1
	case b.Job.Before(a.Job.Priority):
		return -1
	}
	return cmp.Compare(b.ID.Task, a.ID.Task)
}
