package cluster

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// kind is what decides how much of our nodes a pending job takes, besides its size.
type kind struct {
	partition string
	perNode   job.Resources
	whole     bool
}

// capacity is the nodes of a partition that are up and of one size.
type capacity struct {
	job.Resources
	all  int // how many there are
	ours int // of which so many could hold our worker
}

// pending puts into the timeline what is in the queue: first what has a planned start,
// then the others where backfilling puts them, the highest priority first.
func (l *lineup) pending() {
	if l.view.Reservation != "" {
		return // which jobs wait for a reservation is not known
	}
	l.weighs = map[kind]float64{}
	waiting := l.planOrWait()
	for i := 0; i < len(waiting); {
		w := waiting[i]
		for i++; i < len(waiting) && waiting[i].equal(w); i++ {
			w.copies += waiting[i].copies
		}
		l.facts.Unplaced += w.copies - w.backfill(l.line)
	}
}

// planOrWait puts pending jobs with a planned start into the timeline and returns the
// others; of an array only the first task has its start planned.
func (l *lineup) planOrWait() []waiting {
	var out []waiting
	for i := range l.queue.Pending {
		j := &l.queue.Pending[i]
		w := waiting{after: l.snap.At, nodes: l.weigh(j) * float64(max(j.Count, 0)), length: l.length(j), copies: max(j.Repeat, 1)}
		switch {
		case w.nodes == 0:
			continue
		case j.Held != "":
			l.facts.Held += w.copies
			continue
		case j.Start > 0:
			w.after = max(j.Start, l.snap.At)
			w.copies--
			if !exact(j) {
				l.line.Add(w.after, timeline.After(w.after, w.length), -w.most(1))
			}
		case l.closed(j):
			l.facts.Closed += w.copies
			continue
		}
		if w.copies > 0 {
			out = append(out, w)
		}
	}
	return out
}

// closed reports whether no job can start in a job's partition.
func (l *lineup) closed(j *Queued) bool {
	p := l.parts[j.Partition]
	return p != nil && p.Closed != ""
}

// length returns how long a pending job may run.
func (l *lineup) length(j *Queued) time.Duration {
	limit := j.Limit
	if p := l.parts[j.Partition]; p != nil && limit == 0 {
		limit = p.DefaultTime
		if limit == 0 {
			limit = p.MaxTime
		}
	}
	if limit == 0 {
		return timeline.Unbounded
	}
	return limit
}

// weigh returns how many of our nodes each node of a pending job stands for: the share of
// nodes that could hold it that are ours, and of these as much as it takes of one, which
// is all of it where a worker does not fit beside it.
func (l *lineup) weigh(j *Queued) float64 {
	k := kind{j.Partition, j.PerNode, l.whole(j)}
	if w, ok := l.weighs[k]; ok {
		return w
	}
	all, taken := 0, 0.0
	for _, c := range l.capacities(l.parts[j.Partition]) {
		if !j.PerNode.Fits(c.Resources) {
			continue
		}
		all += c.all
		share := 1.0
		if !k.whole && !l.view.Whole && j.PerNode.Plus(l.view.PerNode).Fits(c.Resources) {
			share = dominant(j.PerNode, c.Resources)
		}
		taken += share * float64(c.ours)
	}
	w := 0.0
	if all > 0 {
		w = taken / float64(all)
	}
	l.weighs[k] = w
	return w
}

// dominant returns the largest share that r is of any resource of a node, as Dominant
// Resource Fairness has it (Ghodsi et al., NSDI 2011).
func dominant(r, node job.Resources) float64 {
	share := 0.0
	if node.CPUs > 0 {
		share = float64(r.CPUs) / float64(node.CPUs)
	}
	if node.Mem > 0 {
		share = max(share, float64(r.Mem)/float64(node.Mem))
	}
	return share
}

// capacities returns the sizes of a partition's nodes; of a partition that is not known,
// none.
func (l *lineup) capacities(p *part) []capacity {
	if p == nil {
		return nil
	}
	if p.sizes != nil {
		return p.sizes
	}
	index := map[job.Resources]int{}
	p.sizes = []capacity{}
	for _, i := range p.Nodes {
		if i < 0 || i >= len(l.snap.Nodes) || l.snap.Nodes[i].Down != "" {
			continue
		}
		size := l.snap.Nodes[i].Capacity
		k, ok := index[size]
		if !ok {
			k = len(p.sizes)
			index[size] = k
			p.sizes = append(p.sizes, capacity{Resources: size})
		}
		p.sizes[k].all++
		if l.usable[i] != none {
			p.sizes[k].ours++
		}
	}
	return p.sizes
}

// waiting is equal jobs to be placed by backfilling.
type waiting struct {
	after  job.Time
	nodes  float64 // of ours, each takes; a fraction where several share a node
	length time.Duration
	copies int
}

func (w waiting) equal(o waiting) bool {
	return w.after == o.after && w.nodes == o.nodes && w.length == o.length
}

// slack is what rounding errors of shares add up to at most.
const slack = 1e-9

// most returns how many nodes so many copies take.
func (w waiting) most(copies int) int { return int(math.Ceil(float64(copies)*w.nodes - slack)) }

// backfill places jobs one after the other, each where it fits first, and returns how
// many found a place.
//
// Copies that fit at once are placed at once; where nothing changes any more, so are those
// that come after one another, so that a long array takes as many steps as the timeline
// has, not as it has tasks.
func (w waiting) backfill(line *timeline.Timeline) (placed int) {
	for placed < w.copies {
		at, ok := line.EarliestFit(w.after, w.most(1), w.length)
		if !ok {
			break
		}
		end := timeline.After(at, w.length)
		side, rounds := 1, 1
		if left := w.copies - placed; left > 1 {
			side = min(max(int((float64(line.Min(at, end))+slack)/w.nodes), 1), left)
		}
		if at >= line.Last() && end != timeline.Never {
			rounds = max(1, min((w.copies-placed)/side, int(timeline.Never-max(at, 0))/max(int(w.length), 1)))
			end = at.Add(time.Duration(rounds) * w.length)
		}
		line.Add(at, end, -w.most(side))
		placed += side * rounds
		w.after = at
	}
	return placed
}
