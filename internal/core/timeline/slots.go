package timeline

import (
	"slices"

	"berth/internal/core/job"
)

// Slots returns all free slots, ordered by start and then by number of nodes. It needs time linear
// in the number of steps.
//
// It is getFreeSlots of the paper "mr-job-adaptor", Algorithm 1. A slot begins where the timeline
// rises above the slot's height and ends where it falls below it. So one pass with a stack of the
// open heights finds all slots. It goes back in time, so that slots are found in the opposite of their order: where the timeline
// rises, all that are higher than the step before begin, and their remaining height goes on until the latest of their ends.
func (t *Timeline) Slots() (slots []Slot) {
	type height struct {
		free int
		end  job.Time
	}
	var open []height
	begin := Never // of the step after
	for i := len(t.starts) - 1; i >= -1; i-- {
		free, end := 0, begin // nothing is free before the beginning
		if i >= 0 {
			free = max(int(t.free[i]), 0)
		}
		last := len(open) - 1
		for ; last >= 0 && open[last].free > free; last-- {
			top := open[last]
			s := Slot{begin, top.free, Unbounded}
			if top.end != Never {
				s.Duration = top.end.Sub(begin)
			}
			slots, end = append(slots, s), top.end
		}
		if open = open[:last+1]; free > 0 && (last < 0 || open[last].free < free) {
			open = append(open, height{free, end})
		}
		if i >= 0 {
			begin = t.starts[i]
		}
	}
	slices.Reverse(slots)
	return slots
}
