package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/timeline"
)

// A user who named no partition is told of others where the job is expected to be done sooner by this fraction and by this much, in seconds.
const (
	soonerBy = 0.1
	soonerIn = 600.0
)

// Elsewhere returns in words that a job would be done much sooner in another partition than in the default one, by its plan, and nothing if its
// user named partitions, or if that is not so. It plans the job once more.
func Elsewhere(q Question, p *Plan) (note []string) {
	queue := q.Snap.Queue
	if queue == nil || q.Spec.Request.Partition != "" || q.Remaining != nil || queue.DefaultPartition() == "" || p.Outlook == nil {
		return nil
	}
	names, _ := queue.PartitionsFor(accessOf(q.Spec))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(strings.Split(p.Alloc.Batch.Partitions(), ","), name) })
	if len(names) == 0 {
		return nil
	}
	spec := *q.Spec
	spec.Request.Partition, spec.Request.Anywhere = strings.Join(names, ","), true
	q.Spec, q.Checks, q.Idle, q.Beside = &spec, nil, nil, nil
	other, err := Decide(q)
	if err != nil || other.Outlook == nil {
		return nil // there is none
	}
	here, there, what := p.Outlook.Turnaround, other.Outlook.Turnaround, "done"
	if here == 0 || there == 0 {
		here, there, what = p.starts(), other.starts(), "started"
	}
	gain := here - there
	if math.IsInf(there, 1) || gain < max(soonerIn, soonerBy*here) {
		return nil
	}
	in, at := other.Alloc.Batch.Partition, fmt.Sprintf("%s sooner", duration(gain))
	if math.IsInf(gain, 1) {
		at = "in " + duration(there)
	}
	return []string{fmt.Sprintf("in partition %s the job would be %s %s: name it with -p, or say -p any", in, what, at)}
}

// starts returns when the first task is expected to start, in seconds; +Inf: nobody knows.
func (p *Plan) starts() float64 {
	if p.Alloc.Nodes > 0 && p.Alloc.Start == 0 && p.Alloc.Elastic {
		return math.Inf(1)
	}
	return p.Outlook.Start
}

// requestElsewhere adds, where the user asked for any partition, requests in those where nothing is requested yet, each time the one with which
// the job is done soonest, as long as it is done sooner by more than gainBy. By the mean starts of requests one partition is the best, but in each
// draw of the queues another one has nodes first.
func (d *decision) requestElsewhere() {
	most := d.allocs() + d.moreApart()
	best := slices.Clone(d.chosen)
	if !d.req.Anywhere || len(best) == 0 || d.idleCost() > 0 || d.crowded() || len(d.candidatesElsewhere(best)) == 0 {
		return
	}
	mean := d.meanDrawn(best)
	for len(best) < most {
		least, found := mean*(1-gainBy), []Candidate(nil)
		for _, c := range d.candidatesElsewhere(best) {
			if d.spent > maxPlaced {
				break
			}
			all := append(slices.Clone(best), c)
			if m := d.meanDrawn(all); m < least {
				least, found = m, all
			}
		}
		if found == nil {
			break
		}
		best, mean = found, least
	}
	if len(best) > len(d.chosen) {
		d.takeRequests(best)
		d.simulatePresent()
	}
}

// crowded reports whether a queue is not drawn, or has so many jobs that it is not drawn again.
func (d *decision) crowded() bool {
	return slices.ContainsFunc(d.offers, func(o *offer) bool {
		return o.moves == nil || len(o.moves.queue.Running)+len(o.moves.queue.Waiting) > mostSplit
	})
}

// candidatesElsewhere returns requests of several sizes in the offers of partitions that have no node of the chosen ones: those on which alone the
// job might be done soonest.
func (d *decision) candidatesElsewhere(chosen []Candidate) (out []Candidate) {
	left := math.MaxInt // nodes that the user allows
	if d.req.MaxNodes > 0 {
		left = d.req.MaxNodes - d.liveNodes()
		for _, c := range chosen {
			left -= c.Take
		}
	}
	used := map[*cluster.Partition]bool{}
	for _, o := range d.offers {
		of, known := used[o.part]
		if !known {
			of = slices.ContainsFunc(chosen, func(c Candidate) bool { return c.offer.overlaps(o) })
			used[o.part] = of
		}
		if of {
			continue
		}
		for _, slot := range o.slots {
			c := d.candidate(o, slot, o.filled(min(slot.Nodes, o.capNodes, left)))
			if c.Take < max(1, o.minNodes) || slot.Duration != timeline.Unbounded {
				continue
			}
			c.Total = d.atLeast(&c)
			out = append(out, c)
		}
	}
	out = smallest(out, maxFurther, total)
	for i := range out {
		out[i].wall, out[i].rejected = d.wallTime(&out[i])
	}
	return slices.DeleteFunc(out, func(c Candidate) bool { return c.rejected != "" })
}
