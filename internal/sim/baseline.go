package sim

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// slotting is what algorithm1 and naive are asked: a MapReduce job (or bag: no reduces) and
// the queue it goes to.
type slotting struct {
	Now           job.Time
	Maps, Reduces int
	Invariants    predict.Invariants // T_up takes its means and its maxima: the profile's longest task
	Timeline      *timeline.Timeline // free nodes
	MaxNodes      int                // that can be asked for; 0: no bound
	MaxTime       time.Duration      // that can be asked for; 0: unlimited
	PerNode       int                // map slots, and reduce slots, of a node; 0 is 1
	// Fewest has the smallest number of nodes win whose turnaround is within 1 % of the
	// best (models.md, section 2); the paper takes all nodes of the slot.
	Fewest bool
}

// slotted is the request that comes of it.
type slotted struct {
	Nodes int
	Time  time.Duration // wall time; 0: unlimited
	Start job.Time      // when the queue has room for it, as it is
}

// fewestBy is the share of the best turnaround by which fewer nodes may be later.
const fewestBy = 0.01

// algorithm1 is Algorithm 1 of the paper "mr-job-adaptor" as it is printed, a baseline
// beside plan.Decide. Of every free slot it asks T_up for min(slot's nodes, MaxNodes), and it
// keeps the least start + T_up − now of the slots that last as long, the earlier of equals.
//
// Three points the paper leaves open. No more nodes are taken than there are tasks that
// could run at once (docs/models.md has why). What is asked for is T_up in whole seconds,
// rounded up, and it is that which must fit the slot and MaxTime. And where no slot will
// do, as with a MaxTime below T_up on all nodes, there is no request: false.
func algorithm1(s slotting) (slotted, bool) {
	slots := s.Timeline.Slots()
	var best slotted
	least := math.Inf(1) // turnaround in seconds
	for _, slot := range slots {
		o, turnaround, ok := s.in(slot, s.most(slot))
		if ok && turnaround < least {
			best, least = o, turnaround
		}
	}
	if s.Fewest && best.Nodes > 0 {
		best = s.fewest(slots, best, least)
	}
	return best, best.Nodes > 0
}

// naive asks for as many nodes as there are maps or reduces, whichever are more, for the
// longest time allowed: the baseline of the paper "mr-job-adaptor", section 4. False where
// so many are never free for so long.
func naive(s slotting) (slotted, bool) {
	o := slotted{Nodes: max(s.Maps, s.Reduces), Time: s.MaxTime}
	most := 0
	for _, slot := range s.Timeline.Slots() {
		most = max(most, slot.Nodes)
	}
	o.Nodes = min(o.Nodes, most)
	if s.MaxNodes > 0 {
		o.Nodes = min(o.Nodes, s.MaxNodes)
	}
	d := s.MaxTime
	if d == 0 {
		d = timeline.Unbounded
	}
	at, ok := s.Timeline.EarliestFit(s.Now, o.Nodes, d)
	o.Start = at
	return o, ok && o.Nodes > 0
}

// most returns how many nodes of a slot are of use.
func (s *slotting) most(slot timeline.Slot) int {
	tasks, each := max(s.Maps, s.Reduces), max(1, s.PerNode)
	n := min(slot.Nodes, (tasks+each-1)/each)
	if s.MaxNodes > 0 {
		n = min(n, s.MaxNodes)
	}
	return n
}

// in returns the request for so many nodes in a slot and its turnaround in seconds; false:
// the slot does not last.
func (s *slotting) in(slot timeline.Slot, nodes int) (o slotted, turnaround float64, ok bool) {
	if nodes <= 0 {
		return o, 0, false
	}
	start, long := max(slot.Start, s.Now), slot.Duration
	if long != timeline.Unbounded {
		long -= start.Sub(slot.Start)
	}
	if s.MaxTime > 0 {
		long = min(long, s.MaxTime)
	}
	exec := s.upper(nodes)
	whole := math.Ceil(exec)
	if whole > long.Seconds() {
		return o, 0, false
	}
	o = slotted{Nodes: nodes, Time: max(1, time.Duration(whole)) * time.Second, Start: start}
	return o, start.Sub(s.Now).Seconds() + exec, true
}

// upper returns T_up on so many nodes, in seconds.
func (s *slotting) upper(nodes int) float64 {
	slots := predict.Uniform(nodes * max(1, s.PerNode))
	return predict.Bounds(s.Invariants, predict.Shape{Maps: s.Maps, Reduces: s.Reduces, MapSlots: slots, ReduceSlots: slots}).Total().Up
}

// fewest returns the request for the fewest nodes that is later than the best by no more
// than fewestBy of its turnaround; of equal ones the soonest done.
func (s *slotting) fewest(slots []timeline.Slot, best slotted, least float64) slotted {
	limit, soonest := least*(1+fewestBy), least
	for _, slot := range slots {
		// More nodes than the best so far are of no interest, and T_up falls with nodes.
		low, high := 1, min(s.most(slot), best.Nodes)
		if !s.within(slot, high, limit) {
			continue
		}
		for low < high {
			if mid := (low + high) / 2; s.within(slot, mid, limit) {
				high = mid
			} else {
				low = mid + 1
			}
		}
		o, turnaround, _ := s.in(slot, low)
		if low < best.Nodes || turnaround < soonest {
			best, soonest = o, turnaround
		}
	}
	return best
}

// within reports whether so many nodes of a slot have a turnaround of no more than limit.
func (s *slotting) within(slot timeline.Slot, nodes int, limit float64) bool {
	_, turnaround, ok := s.in(slot, nodes)
	return ok && turnaround <= limit
}
