package engine

import (
	"slices"

	"berth/internal/job"
)

// admits reports whether the node has room for the next task of the class.
//
// In the order sched.Shortest reduces of a large job, which may shuffle for as long as its maps
// last, are not to keep out those of a small one: of the shuffles there only those of jobs
// that go before count, which is what there would be if the others had not come yet.
func (e *Engine) admits(c *class, n *node) bool {
	if c.key.kind != job.ReduceTask {
		return n.AdmitsTask(c.key.need)
	}
	shuffling := n.Shuffling
	if n.alloc.pool.shortest && shuffling >= n.Capacity.CPUs {
		shuffling = n.shufflingUpTo(c.line[0].job)
	}
	return n.AdmitsShuffle(c.key.need, max(c.key.room, c.room), shuffling)
}

// shufflingUpTo returns how many reduces shuffle on the node of that job and those before it.
func (n *node) shufflingUpTo(j *jobState) int {
	count := 0
	for _, a := range n.live {
		if a.shuffling() && !j.place.Before(a.job.place) {
			count++
		}
	}
	return count
}

// wantsRoom returns the bytes that shuffles of later jobs have to leave free so that the next
// task of the class, which found no room, can ever run; 0: they need not.
func (c *class) wantsRoom() int64 {
	switch j := c.line[0].job; {
	case c.key.kind == job.MapTask:
		return c.key.need.Mem
	case c.key.kind == job.ReduceTask && j.pool.shortest && j.counts[0].done == j.counts[0].total:
		return c.key.need.Mem + c.room // it could go on to its end at once
	}
	return 0
}

// unobstruct makes room of so many bytes for a map where shuffles hold the memory of every node it
// could run on, and themselves wait for maps of their jobs. That happens when a map is
// to be run again after all were done and shuffles took the room that was kept for
// maps. Shuffles of earlier jobs are left alone: their maps come first, so they end.
//
// In the order sched.Shortest it happens, too, when a job comes that goes before those which
// shuffle, and it is done for its reduces as well: else a small job had to wait for all maps
// of a large one. Such a kill costs what was fetched, no work: no reduce is killed that has all
// it needs. That jobs pass one another in the line does no harm. While nothing begins or
// ends, nobody moves, and the first in line gets its room as above; so there is no deadlock. And
// what was killed begins again only where it leaves that room (class.room); so while nothing
// else begins or ends no two jobs take it from each other for ever.
func (e *Engine) unobstruct(p *pool, c *class, mem int64) {
	first := c.line[0].job
	var victim *node
	for _, n := range p.nodes {
		if !n.couldTake(c, e.now) || mem > n.Capacity.Mem { // more than there is no kill makes room
			continue
		}
		if !n.Obstructed(mem) || n.Capacity.Mem-n.stuck(first) >= mem {
			return
		}
		if victim == nil {
			victim = n
		}
	}
	if victim == nil {
		return
	}
	as := slices.Clone(victim.live)
	slices.SortFunc(as, lastInLine)
	for _, a := range as {
		if victim.Capacity.Mem-victim.stuck(first) >= mem {
			return
		}
		if a.stuck(first) {
			e.kill(a, "its memory is needed for a "+c.key.kind.String()+" that comes first")
		}
	}
}

// stuck returns the memory of shuffles on the node that have to wait for maps, of
// jobs that are not before that one in the line.
func (n *node) stuck(first *jobState) int64 {
	var sum int64
	for _, a := range n.live {
		if a.stuck(first) {
			sum += a.job.work.ReduceNeed.Mem
		}
	}
	return sum
}

func (a *attempt) stuck(first *jobState) bool {
	maps := &a.job.counts[0]
	return a.shuffling() && a.job.work.ReduceNeed.Mem > 0 && a.dying() == "" && !a.job.place.Before(first.place) && maps.done < maps.total
}

// lastInLine sorts attempts by the places of their jobs, the last first.
func lastInLine(a, b *attempt) int {
	switch {
	case a.job.place.Before(b.job.place):
		return 1
	case b.job.place.Before(a.job.place):
		return -1
	}
	return b.id.Task - a.id.Task
}

// shuffling notes that so many more of the job's reduces shuffle.
func (j *jobState) shuffling(n int) {
	before := j.shuffled
	j.shuffled += n
	switch p := j.pool; {
	case before == 0:
		p.shufflers = append(p.shufflers, j)
	case j.shuffled == 0:
		p.shufflers = slices.DeleteFunc(p.shufflers, func(k *jobState) bool { return k == j })
	}
}
