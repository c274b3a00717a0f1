package predict

import "math"

// Singly places every task of a series on that many slots, each on the one that is free first, and returns when the
// last of them begins and when each ends. Trials.RunWithin does the same, except for stages of many tasks: its bulk
// placement has the same distribution only.
//
// Durations may be in any unit. Whole numbers are summed without rounding and distinguished up to 2⁵² / slots.
func (s Series) Singly(slots int) (lastBegin float64, ends []float64) {
	l := list{windows: []Window{{End: math.Inf(1), TaskSlots: slots}}, singly: true, ends: make([]float64, 0, len(s.values))}
	l.stage(&stageRun{tasks: len(s.values), rest: s})
	return l.begun[0], l.ends
}
