package cluster

import (
	"cmp"
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// kind is the properties of a pending job, besides its length, that decide how many of our nodes it uses.
type kind struct {
	partition string
	perNode   job.Resources
	whole     bool
}

// capacity is the nodes of a partition that are up and have one size.
type capacity struct {
	job.Resources
	all  int // number of these nodes
	ours int // number of these nodes that could hold our worker
}

// pending adds the pending jobs to the timeline: first those with a planned start, then the others by backfilling,
// the highest priority first.
func (l *lineup) pending() {
	if l.view.Reservation != "" {
		return // it is unknown which jobs wait for a reservation
	}
	l.weights = map[kind]float64{}
	waiting := l.planOrWait()
	for i := 0; i < len(waiting); {
		w := waiting[i]
		for i++; i < len(waiting) && waiting[i].equal(w); i++ {
			w.copies += waiting[i].copies
		}
		l.facts.Unplaced += w.copies - w.backfill(l.line)
	}
}

// planOrWait adds pending jobs with a planned start to the timeline and returns the others. Of an array only the
// first task has a planned start.
func (l *lineup) planOrWait() []waiting {
	var out []waiting
	for i := range l.queue.Pending {
		j := &l.queue.Pending[i]
		w := waiting{after: l.snap.At, nodes: l.weight(j) * float64(max(j.Count, 0)), length: l.length(j), copies: max(j.Repeat, 1)}
		switch {
		case w.nodes == 0, l.overtaken(j):
			continue
		case j.Held != "":
			l.facts.Held += w.copies
			continue
		case j.Start > 0:
			w.after = max(j.Start, l.snap.At)
			w.copies--
			if !startKnown(j) {
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

// closed reports whether no pending job can start in a job's partition.
func (l *lineup) closed(j *Queued) bool {
	p := l.parts[j.Partition]
	return p != nil && p.Closed != "" && !p.Drains
}

// length returns the wall time of a pending job.
func (l *lineup) length(j *Queued) time.Duration {
	limit := j.Limit
	if p := l.parts[j.Partition]; p != nil {
		limit = cmp.Or(limit, p.DefaultTime, p.MaxTime)
	}
	return cmp.Or(limit, timeline.Unbounded)
}

// weight returns how many of our nodes each node of a pending job counts as: the fraction of the nodes that could hold
// the job which are ours, times the share of such a node that the job uses. That share is 1 where our worker does not
// fit beside the job.
func (l *lineup) weight(j *Queued) float64 {
	k := kind{j.Partition, j.PerNode, l.wholeNodes(j)}
	if w, ok := l.weights[k]; ok {
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
	l.weights[k] = w
	return w
}

// dominant returns the largest share of any resource of a node that r is, as in Dominant Resource Fairness (Ghodsi et
// al., NSDI 2011).
func dominant(r, node job.Resources) float64 {
	part := func(of, all int64) float64 {
		if all <= 0 {
			return 0
		}
		return float64(of) / float64(all)
	}
	return max(part(int64(r.CPUs), int64(node.CPUs)), part(r.Mem, node.Mem), part(int64(r.GPUs), int64(node.GPUs)))
}

// capacities returns the sizes of a partition's nodes, nil for an unknown partition.
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

// waiting is a number of equal jobs that backfilling places.
type waiting struct {
	after  job.Time
	nodes  float64 // of our nodes, for each job; a fraction where several jobs share a node
	length time.Duration
	copies int
}

func (w waiting) equal(o waiting) bool {
	return w.after == o.after && w.nodes == o.nodes && w.length == o.length
}

// slack is an upper bound of the rounding errors of sums of shares.
const slack = 1e-9

// most returns how many nodes that many copies use.
func (w waiting) most(copies int) int { return int(math.Ceil(float64(copies)*w.nodes - slack)) }

// backfill places jobs one after the other, each at its earliest fit, and returns how many were placed.
//
// Copies that fit at once are placed at once. After the last step of the timeline copies that follow each other are
// placed in one step, too, so that a long array needs as many steps as the timeline has, not as many as it has tasks.
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
