package predict

import (
	"cmp"
	"math"
	"slices"
)

// list is a list scheduler over windows: the fast path beside the engine. It knows no
// failures, memory or nodes, only slots.
type list struct {
	windows []Window
	order   []int32 // of the windows that have slots for the stage, by when these are free
	slots   []place // a heap
	lost    []lost  // by when they are ready, then as they first began; those before head have begun anew
	head    int
}

// place is a slot of a window.
type place struct {
	free   float64
	window int32
	first  bool // it was there when the stage began and has had no task yet
}

func (p place) before(q place) bool {
	return p.free < q.free || p.free == q.free && p.window < q.window
}

// lost is a task whose window ended under it.
type lost struct {
	ready   float64 // when that was
	task    int
	seconds float64 // that it takes: a long task is as long the second time
}

func (t lost) before(u lost) bool { return t.ready < u.ready || t.ready == u.ready && t.task < u.task }

// stageRun is tasks of one kind, which begin once the stage before is done.
type stageRun struct {
	tasks        int
	from         float64
	expect       float64
	first, other Series // the part of a task that depends on whether its slot was there at first
	rest         Series
	slots        func(*Window) int
}

// run returns when a trial is done, +Inf if it is not, and how many tasks are left.
func (l *list) run(load Load, expect Expected, t *Trial) (end float64, left int) {
	maps := stageRun{tasks: load.Maps, expect: expect.Map, rest: t.Maps, slots: func(w *Window) int { return w.TaskSlots }}
	end, left = l.stage(&maps)
	if left > 0 {
		return math.Inf(1), left + load.Reduces
	}
	reduces := stageRun{
		tasks: load.Reduces, from: end, expect: expect.Reduce, first: t.First, other: t.Other, rest: t.Reduces,
		slots: func(w *Window) int { return w.ReduceSlots },
	}
	if load.Maps == 0 {
		reduces.from = math.Inf(-1) // no shuffle has waited for maps
	}
	last, left := l.stage(&reduces)
	if left > 0 {
		return math.Inf(1), left
	}
	return max(end, last, 0), 0
}

// stage places the tasks of a stage and returns when the last was done, and how many
// could not be.
func (l *list) stage(s *stageRun) (end float64, left int) {
	if s.tasks == 0 {
		return s.from, 0
	}
	l.open(s)
	next, end := l.bulk(s)
	for next < s.tasks || l.head < len(l.lost) {
		if len(l.slots) == 0 {
			return math.Inf(1), s.tasks - next + len(l.lost) - l.head
		}
		p := &l.slots[0]
		w := &l.windows[p.window]
		start, again := p.free, false
		if l.head < len(l.lost) && (next == s.tasks || l.lost[l.head].ready <= start) {
			start, again = max(start, l.lost[l.head].ready), true
		}
		if start >= w.End || start+s.expect/w.speed() > w.End+tiny {
			l.drop() // what is left of its window is of no use
			continue
		}
		t := lost{task: next}
		if again {
			t = l.lost[l.head]
			l.head++
		} else {
			t.seconds = s.draw(next, p.first)
			next++
		}
		if p.free, p.first = start+t.seconds/w.speed(), false; p.free > w.End+tiny {
			t.ready = w.End
			l.lose(t)
			l.drop()
			continue
		}
		end = max(end, p.free)
		l.sink()
	}
	return end, 0
}

// draw returns what task i takes.
func (s *stageRun) draw(i int, first bool) float64 {
	if first {
		return s.first.at(i) + s.rest.at(i)
	}
	return s.other.at(i) + s.rest.at(i)
}

// open makes the slots of the windows free, no earlier than the stage begins. A
// window has no use for more slots than there are tasks.
func (l *list) open(s *stageRun) {
	l.order, l.slots, l.lost, l.head = l.order[:0], l.slots[:0], l.lost[:0], 0
	for i := range l.windows {
		if w := &l.windows[i]; w.End > max(w.Start, s.from) && s.slots(w) > 0 {
			l.order = append(l.order, int32(i)) //nolint:gosec // there are few windows
		}
	}
	free := func(i int32) float64 { return max(l.windows[i].Start, s.from) }
	slices.SortFunc(l.order, func(a, b int32) int { return cmp.Or(cmp.Compare(free(a), free(b)), cmp.Compare(a, b)) })
	for _, i := range l.order {
		for range min(s.slots(&l.windows[i]), s.tasks) {
			l.slots = append(l.slots, place{free: free(i), window: i, first: l.windows[i].Start <= s.from})
		}
	}
}

// heapWidth is how many children a slot has in the heap: with four it is half as high as
// with two, and they lie side by side in memory.
const heapWidth = 4

// sink puts the first slot of the heap in its place after it became busy for longer.
func (l *list) sink() {
	q := l.slots
	if len(q) == 0 {
		return
	}
	moved := q[0]
	i := 0
	for {
		first := heapWidth*i + 1
		if first >= len(q) {
			break
		}
		least := first
		for child := first + 1; child < min(first+heapWidth, len(q)); child++ {
			if q[child].before(q[least]) {
				least = child
			}
		}
		if !q[least].before(moved) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = moved
}

// drop takes the first slot away.
func (l *list) drop() {
	n := len(l.slots) - 1
	l.slots[0] = l.slots[n]
	l.slots = l.slots[:n]
	l.sink()
}

// lose puts a task among the lost ones.
func (l *list) lose(t lost) {
	i := len(l.lost)
	l.lost = append(l.lost, t)
	for ; i > l.head && t.before(l.lost[i-1]); i-- {
		l.lost[i] = l.lost[i-1]
	}
	l.lost[i] = t
}
