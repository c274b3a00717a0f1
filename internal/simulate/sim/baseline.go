package sim

import (
	"cmp"
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

// baseline is the input of the baselines that the experiments compare with plan.Decide: the job and
// the queue.
type baseline struct {
	now           job.Time
	maps, reduces int                // a bag has no reduces
	invariants    predict.Invariants // T_up uses their means and maxima (the profile's longest task)
	line          *timeline.Timeline // free nodes
	maxNodes      int                // the largest request allowed; 0: no limit
	maxTime       time.Duration      // the longest wall time allowed; 0: no limit
	perNode       int                // map slots, and as many reduce slots, of a node
	// fewest selects the smallest number of nodes whose turnaround is within 1 % of the best
	// (models.md, "Batch systems"). The paper uses all nodes of the slot.
	fewest bool
}

// fewestBy is the fraction of the best turnaround by which a request with fewer nodes may end later.
const fewestBy = 0.01

// algorithm1 is Algorithm 1 of the paper "mr-job-adaptor" as printed, a baseline for plan.Decide.
// For every free slot it computes T_up on min(slot's nodes, maxNodes) nodes. Of the slots that last
// long enough it selects the one with the smallest start + T_up − now, and the earlier one of two
// equal slots. It returns false if there is no such slot, for instance because maxTime is below T_up
// on all nodes.
//
// The paper leaves two more points open. A request has no more nodes than there are tasks that could
// run at the same time (the reason is in docs/models.md). The requested wall time is T_up rounded up
// to whole seconds, and the rounded value must fit the slot and maxTime.
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

// naive requests as many nodes as there are maps or reduces, whichever are more, for the longest
// time allowed: the baseline of the paper "mr-job-adaptor", section 4. It returns false if so many
// nodes are never free for so long.
func (b *baseline) naive() (plan.Candidate, bool) {
	most := 0
	for _, slot := range b.line.Slots() {
		most = max(most, slot.Nodes)
	}
	n := min(max(b.maps, b.reduces), most, cmp.Or(b.maxNodes, math.MaxInt))
	at, ok := b.line.EarliestFit(b.now, n, cmp.Or(b.maxTime, timeline.Unbounded))
	return plan.Candidate{Slot: timeline.Slot{Start: at}, Take: n, Time: b.maxTime}, ok && n > 0
}

// most returns how many nodes of a slot the job can use.
func (b *baseline) most(slot timeline.Slot) int {
	tasks := max(b.maps, b.reduces)
	return min(slot.Nodes, (tasks+b.perNode-1)/b.perNode, cmp.Or(b.maxNodes, math.MaxInt))
}

// in returns the request for a number of nodes in a slot, from now on or later. Its turnaround is
// infinite if the slot is too short.
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

// upper returns T_up on a number of nodes, in seconds.
func (b *baseline) upper(nodes int) float64 {
	slots := predict.Uniform(nodes * b.perNode)
	return predict.Bounds(b.invariants, predict.Shape{Maps: b.maps, Reduces: b.reduces, MapSlots: slots, ReduceSlots: slots}).Total().Up
}

// fewer returns the request with the fewest nodes whose turnaround exceeds the best by at most
// fewestBy. Of requests with equally many nodes it returns the one that ends first.
func (b *baseline) fewer(slots []timeline.Slot, best plan.Candidate) plan.Candidate {
	limit := best.Total * (1 + fewestBy)
	for _, slot := range slots {
		// Only requests with fewer nodes than the best so far matter. T_up falls with the number of
		// nodes.
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
