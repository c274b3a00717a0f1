package sched

import (
	"cmp"
	"slices"

	"berth/internal/job"
)

// admits reports whether the node has room for the first candidate of the class. One that takes no memory has room also where an
// attempt that has the node to itself holds more than there is.
//
// In the order Shortest reduces of a large job, which may shuffle for as long as its maps last, are not to
// keep out those of a small one: of the reduces that shuffle only those of jobs that go before count,
// which is what there would be if the others had not come yet.
func (r *Selector) admits(c *Class, n *Node) bool {
	if mem := c.Takes.Memory; mem > max(0, n.Free().Memory)-n.wanted() && (n.Used.Memory > 0 || c.Peak.Memory > n.Capacity.Memory) || !r.rules.fits(n, c.line[0]) {
		return false
	}
	if !c.shuffles() {
		return true
	}
	if j := c.line[0].Job; j.madeRoom && j.Waits { // else two jobs could take room from each other for ever
		return false
	}
	beside := n.Shuffles
	if r.shortest && beside >= r.rules.shuffles(n) {
		beside = n.shufflesUpTo(c.line[0].Job)
	}
	return beside < r.rules.shuffles(n) && n.leavesRoom(&c.Needs, c.Kept())
}

// shufflesUpTo returns how many reduces shuffle on the node of that job and those before it.
func (n *Node) shufflesUpTo(j *Job) int {
	count := 0
	for _, a := range n.Running {
		if a.Shuffles() && !j.Before(a.Job.Place) {
			count++
		}
	}
	return count
}

// wantsRoom returns the bytes that reduces of later jobs which shuffle have to leave free so that the next
// task of the class, which found no room, can ever run; 0: they need not.
func (r *Selector) wantsRoom(c *Class) int64 {
	switch {
	case c.Urgent: // its job has what it needs
	case c.Kind == job.MapTask:
		return c.Takes.Memory
	case c.shuffles() && r.shortest && !c.line[0].Job.Waits:
		return c.Takes.Memory + c.room // it could go on to its end at once
	}
	return 0
}

// unobstruct returns which attempts are to end to make room of so many bytes for a map, where reduces that
// shuffle hold the memory of every node it could run on, and themselves wait for maps of their jobs. That
// happens when a map is to be run again after all were done and shuffles took the room that was kept for
// maps. Reduces of earlier jobs are left alone: their maps come first, so they end.
//
// In the order Shortest it happens, too, when a job comes that goes before those which shuffle, and
// it is done for its reduces as well: else a small job had to wait for all maps of a large one. Such an end
// costs what was fetched, no work: no reduce is ended that has all it needs. That jobs pass one another in the
// line does no harm. While nothing begins or ends, nobody moves, and the first in line gets its room
// as above; so there is no deadlock. And what was ended begins again only where it leaves that room
// (Class.room); so while nothing else begins or ends no two jobs take it from each other for ever.
func (r *Selector) unobstruct(p *Pool, c *Class, mem int64, now job.Time) (end []*Running) {
	first := c.line[0].Job
	var victim *Node
	for _, n := range p.Nodes {
		need := n.within(c, mem)
		if !n.couldTake(c, now) || need > n.Capacity.Memory { // more than there is no end makes room
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
	stuck, mem := victim.stuck(first), victim.within(c, mem)
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

// within returns so many bytes, with what a task of the class takes counted as all of the node where it is more than that.
func (n *Node) within(c *Class, mem int64) int64 {
	return mem - max(0, c.Takes.Memory-n.Capacity.Memory)
}

// stuck returns the memory of reduces which shuffle on the node and have to wait for maps, of jobs that are
// not before that one in the line.
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
	return r.Shuffles() && r.Holds.Memory > 0 && r.Doomed == "" && !r.Job.Before(first.Place) && r.Job.Waits
}

// lastInLine sorts attempts by the places of their jobs, the last first.
func lastInLine(a, b *Running) int {
	switch {
	case a.Job.Before(b.Job.Place):
		return 1
	case b.Job.Before(a.Job.Place):
		return -1
	}
	return cmp.Compare(b.ID.Task, a.ID.Task)
}
