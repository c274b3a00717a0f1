package predict

import "math"

// Slots are the places where tasks of a kind run at the same time, in groups of
// equal speed. The zero value is no slots.
type Slots []SlotGroup

// SlotGroup is a number of slots of one speed, relative to the node that was
// profiled: a task takes its measured time divided by the speed of its slot.
type SlotGroup struct {
	Count int
	Speed float64 // above 0
}

// Uniform returns n slots of the profiled node's speed.
func Uniform(n int) Slots { return Slots{{Count: max(n, 0), Speed: 1}} }

// Count returns the number of slots.
func (s Slots) Count() int {
	n := 0
	for _, g := range s {
		n += g.Count
	}
	return n
}

// totals is what the bounds need to know of slots.
type totals struct {
	count            int
	speed            float64 // the sum of all speeds: S of the model
	slowest, fastest float64
}

func (s Slots) totals() totals {
	t := totals{slowest: math.Inf(1)}
	for _, g := range s {
		if g.Count == 0 {
			continue
		}
		t.count += g.Count
		t.speed += float64(g.Count) * g.Speed
		t.slowest, t.fastest = min(t.slowest, g.Speed), max(t.fastest, g.Speed)
	}
	return t
}

// Shape is how many tasks a job has and where they run. A bag's tasks are Maps,
// and it has no Reduces.
type Shape struct {
	Maps, Reduces         int
	MapSlots, ReduceSlots Slots
}
