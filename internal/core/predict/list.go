package predict

import (
	"cmp"
	"math"
	"slices"
)

// list is a list scheduler over windows: a fast model of the engine's scheduling. It knows slots only, no failures,
// memory or nodes.
type list struct {
	windows []Window
	order   []group // the windows with slots for the stage, in the order in which these are free
	slots   []slot  // by window
	free    tournament
	lost    []lost // in the order of the ends of their windows, then of their indices; those before head have begun again
	head    int
	begun   [2]float64 // when the last map and the last reduce began, in the run of the latest trial
	placed  int        // tasks, one by one, in all runs
}

// slot is a slot of a window.
type slot struct {
	free   float64
	window int32
	first  bool // it existed when the stage began and has had no task yet
}

// group is the range [from, to) of the slots of a window.
type group struct{ window, from, to int32 }

// lost is a task whose window ended while it ran.
type lost struct {
	ready   float64 // end of the window
	task    int
	seconds float64 // duration; it is the same the second time
}

func (t lost) before(u lost) bool { return t.ready < u.ready || t.ready == u.ready && t.task < u.task }

// stageRun is the tasks of one kind, which begin once the stage before is done.
type stageRun struct {
	kind, tasks  int // 0: maps, 1: reduces
	from         float64
	expect       float64
	first, other Series // the part of a task that depends on slot.first
	rest         Series
}

// runTrial returns when a trial is done, +Inf if it is not, and how many tasks are left.
func (l *list) runTrial(load Load, expect Expected, t *Trial) (end float64, left int) {
	maps := stageRun{tasks: load.Maps, expect: expect.Map, rest: t.Maps}
	end, left = l.placeStage(&maps)
	if left > 0 {
		return math.Inf(1), left + load.Reduces
	}
	reduces := stageRun{
		kind: 1, tasks: load.Reduces, from: end, expect: expect.Reduce, first: t.First, other: t.Other, rest: t.Reduces,
	}
	if load.Maps == 0 {
		reduces.from = math.Inf(-1) // no shuffle has waited for maps
	}
	last, left := l.placeStage(&reduces)
	if left > 0 {
		return math.Inf(1), left
	}
	return max(end, last, 0), 0
}

// placeStage places the tasks of a stage and returns the end of the last one, and how many could not be placed.
func (l *list) placeStage(s *stageRun) (end float64, left int) {
	l.begun[s.kind] = math.Inf(-1)
	if s.tasks == 0 {
		return s.from, 0
	}
	l.open(s)
	next, end := l.placeBulk(s)
	l.free.build(l.slots)
	l.placed += s.tasks - next
	for next < s.tasks || l.head < len(l.lost) {
		top, ok := l.free.top()
		if !ok {
			return math.Inf(1), s.tasks - next + len(l.lost) - l.head
		}
		p := &l.slots[top]
		w := &l.windows[p.window]
		start, again := p.free, false
		if l.head < len(l.lost) && (next == s.tasks || l.lost[l.head].ready <= start) {
			start, again = max(start, l.lost[l.head].ready), true
		}
		if start >= w.End || start+s.expect > w.End+tiny {
			l.free.removeTop(top) // the rest of its window is too short for any task
			continue
		}
		var t lost
		t, next = l.take(s, next, again, p.first)
		l.begun[s.kind] = start
		done := start + t.seconds
		p.free, p.first = done, false
		if done > w.End+tiny {
			t.ready = w.End
			l.lose(t)
			l.free.removeTop(top)
			continue
		}
		end = max(end, done)
		l.free.setFree(top, done)
	}
	return end, 0
}

// take returns the task that begins, a lost one or the next, and the index of the next.
func (l *list) take(s *stageRun, next int, again, first bool) (lost, int) {
	if again {
		l.head++
		return l.lost[l.head-1], next
	}
	return lost{task: next, seconds: s.draw(next, first)}, next + 1
}

// draw returns the duration of task i.
func (s *stageRun) draw(i int, first bool) float64 {
	if first {
		return s.first.at(i) + s.rest.at(i)
	}
	return s.other.at(i) + s.rest.at(i)
}

// open makes the slots of the windows free, no earlier than the stage begins. A window has no use for more slots than
// there are tasks.
func (l *list) open(s *stageRun) {
	l.order, l.slots, l.lost, l.head = l.order[:0], l.slots[:0], l.lost[:0], 0
	for i := range l.windows {
		w := &l.windows[i]
		n := min(w.slots(s.kind), s.tasks)
		if w.End <= max(w.Start, s.from) || n <= 0 {
			continue
		}
		from := len(l.slots)
		for range n {
			l.slots = append(l.slots, slot{free: max(w.Start, s.from), window: int32(i), first: w.Start <= s.from}) //nolint:gosec // there are few windows
		}
		l.order = append(l.order, group{int32(i), int32(from), int32(len(l.slots))}) //nolint:gosec // and less than 2³¹ slots
	}
	slices.SortStableFunc(l.order, func(a, b group) int { return cmp.Compare(l.slots[a.from].free, l.slots[b.from].free) })
}

// lose inserts a task into the lost ones, in their order.
func (l *list) lose(t lost) {
	i := len(l.lost)
	l.lost = append(l.lost, t)
	for ; i > l.head && t.before(l.lost[i-1]); i-- {
		l.lost[i] = l.lost[i-1]
	}
	l.lost[i] = t
}
