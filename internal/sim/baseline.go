package sim

import (
	"cmp"
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// baseline is what the ways beside plan.Decide know of a job and of the queue that it goes to.
type baseline struct {
	now           job.Time
	maps, reduces int                // a bag has no reduces
	invariants    predict.Invariants // T_up takes its means and its maxima: the profile's longest task
	line          *timeline.Timeline // free nodes
	maxNodes      int                // that can be asked for; 0: no bound
	maxTime       time.Duration      // that can be asked for; 0: unlimited
	perNode       int                // map slots, and reduce slots, of a node
	// fewest has the smallest number of nodes win whose turnaround is within 1 % of the
	// best (models.md, section 2); the paper takes all nodes of the slot.
	fewest bool
}

// fewestBy is the share of the best turnaround by which fewer nodes may be later.
const fewestBy = 0.01

// algorithm1 is Algorithm 1 of the paper "mr-job-adaptor" as it is printed, a baseline
// beside plan.Decide. Of every free slot it asks T_up for min(slot's nodes, maxNodes), and it
// keeps the least start + T_up − now of the slots that last as long, the earlier of equals.
//
// Three points the paper leaves open. No more nodes are taken than there are tasks that
// could run at once (docs/models.md has why). What is asked for is T_up in whole seconds,
// rounded up, and it is that which must fit the slot and maxTime. And where no slot will
// do, as with a maxTime below T_up on all nodes, there is no request: false.
func (b *baseline) algorithm1() (plan.Candidate, bool) {
	slots, best := b.line.Slots(), plan.Candidate{Total: math.Inf(1)}
	for _, slot := range slots {
		if c := b.in(slot, b.most(slot)); c.Total < best.Total {
			best = c
		}
	}
	if b.fewest && best.Take > 0 {
		best = b.fewer(slots, best)
	}
	return best, best.Take > 0
}

// naive asks for as many nodes as there are maps or reduces, whichever are more, for the
// longest time allowed: the baseline of the paper "mr-job-adaptor", section 4. False where
// so many are never free for so long.
func (b *baseline) naive() (plan.Candidate, bool) {
	most := 0
	for _, slot := range b.line.Slots() {
		most = max(most, slot.Nodes)
	}
	n := min(max(b.maps, b.reduces), most, cmp.Or(b.maxNodes, math.MaxInt))
	at, ok := b.line.EarliestFit(b.now, n, cmp.Or(b.maxTime, timeline.Unbounded))
	return plan.Candidate{Slot: timeline.Slot{Start: at}, Take: n, Time: b.maxTime}, ok && n > 0
}

// most returns how many nodes of a slot are of use.
func (b *baseline) most(slot timeline.Slot) int {
	tasks := max(b.maps, b.reduces)
	return min(slot.Nodes, (tasks+b.perNode-1)/b.perNode, cmp.Or(b.maxNodes, math.MaxInt))
}

// in returns the request for so many nodes in a slot, from now on or later. Its turnaround is
// infinite where the slot does not last.
func (b *baseline) in(slot timeline.Slot, nodes int) plan.Candidate {
	c := plan.Candidate{Slot: slot, Take: nodes, Total: math.Inf(1)}
	if nodes <= 0 {
		return c
	}
	c.Start = max(slot.Start, b.now)
	exec := b.upper(nodes)
	whole := math.Ceil(exec)
	if longest := min(slot.End().Sub(c.Start), cmp.Or(b.maxTime, timeline.Unbounded)); whole <= longest.Seconds() {
		c.Time, c.Total = max(1, time.Duration(whole))*time.Second, c.Start.Sub(b.now).Seconds()+exec
	}
	return c
}

// upper returns T_up on so many nodes, in seconds.
func (b *baseline) upper(nodes int) float64 {
	slots := predict.Uniform(nodes * b.perNode)
	return predict.Bounds(b.invariants, predict.Shape{Maps: b.maps, Reduces: b.reduces, MapSlots: slots, ReduceSlots: slots}).Total().Up
}

// fewer returns the request for the fewest nodes that is later than the best by no more
// than fewestBy of its turnaround; of equal ones the soonest done.
func (b *baseline) fewer(slots []timeline.Slot, best plan.Candidate) plan.Candidate {
	limit := best.Total * (1 + fewestBy)
	for _, slot := range slots {
		// More nodes than the best so far are of no interest, and T_up falls with nodes.
		low, high := 1, min(b.most(slot), best.Take)
		if b.in(slot, high).Total > limit {
			continue
		}
		for low < high {
			if mid := (low + high) / 2; b.in(slot, mid).Total <= limit {
				high = mid
			} else {
				low = mid + 1
			}
		}
		if c := b.in(slot, low); c.Take < best.Take || c.Total < best.Total {
			best = c
		}
	}
	return best
}
