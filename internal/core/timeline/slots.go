package timeline

// Slots returns all free slots, ordered by start and then by number of nodes. It needs time linear
// in the number of steps.
//
// It is getFreeSlots of the paper "mr-job-adaptor", Algorithm 1. A slot begins where the timeline
// rises above the slot's height and ends where it falls below it. So one pass with a stack of the
// open heights finds all slots: at a fall the higher ones end, and their remaining height continues
// from the earliest of their starts.
func (t *Timeline) Slots() []Slot {
	steps := t.Steps()
	c := closed{last: make([]int, len(steps))}
	type height struct{ step, free int }
	var open []height
	for i, s := range steps {
		start, free := i, max(s.Free, 0)
		for len(open) > 0 && open[len(open)-1].free > free {
			top := open[len(open)-1]
			open = open[:len(open)-1]
			c.add(top.step, Slot{steps[top.step].Start, top.free, s.Start.Sub(steps[top.step].Start)})
			start = top.step
		}
		if free > 0 && (len(open) == 0 || open[len(open)-1].free < free) {
			open = append(open, height{start, free})
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		c.add(open[i].step, Slot{steps[open[i].step].Start, open[i].free, Unbounded})
	}
	return c.ordered()
}

// closed is a list of slots in the order of their ends, chained by the step at which they begin.
// Among equal starts, that is the order of decreasing nodes.
type closed struct {
	slots []Slot
	prev  []int // for a slot: 1 + index of the previous slot with the same start; 0: none
	last  []int // for a step: 1 + index of the last slot that starts there; 0: none
}

func (c *closed) add(step int, s Slot) {
	c.slots = append(c.slots, s)
	c.prev = append(c.prev, c.last[step])
	c.last[step] = len(c.slots)
}

func (c *closed) ordered() []Slot {
	out := make([]Slot, 0, len(c.slots))
	for _, i := range c.last {
		for ; i > 0; i = c.prev[i-1] {
			out = append(out, c.slots[i-1])
		}
	}
	return out
}
