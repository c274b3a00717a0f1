package predict

import "math"

const (
	// bulkTail is the least number of tasks of a stage that are placed one by one, and tailWaves the least number per slot.
	bulkTail, tailWaves = 1024, 4
	// bulkGuard is the margin before the end of a window, in standard deviations of the bulk, in which tasks are placed
	// one by one: there it matters which task begins when.
	bulkGuard = 4
)

// placeBulk places all but the last few waves of a stage of many tasks: each slot gets a run of consecutive tasks whose
// number follows from their mean duration and the level at which all slots together have done all but the tail. It
// returns how many tasks it placed and when the last of them ends.
//
// A task may get another slot than if all were placed one by one, but a slot's load is a sum of as many durations
// either way, and the tail levels the slots. The cost depends on the slots and the tail, not on the number of tasks.
func (l *list) placeBulk(s *stageRun) (next int, end float64) {
	n := s.tasks - max(bulkTail, tailWaves*len(l.slots))
	mean := s.other.mean() + s.rest.mean()
	if n <= 0 || mean <= 0 || len(l.slots) == 0 {
		return 0, s.from
	}
	end = s.from
	level := l.level(s, n, mean)
	for _, o := range l.order {
		w := &l.windows[o.window]
		until := min(level, s.clear(w, mean))
		for i := o.from; i < o.to; i++ {
			p := &l.slots[i]
			m := int((until - p.free) / mean)
			if m < 1 {
				continue
			}
			seconds := s.rest.sum(next, m) + s.other.sum(next, m)
			if p.first {
				seconds += s.first.at(next) - s.other.at(next)
			}
			next += m
			p.free, p.first = min(p.free+seconds, w.End), false
			end = max(end, p.free)
		}
	}
	return next, end
}

// clear returns the time until which tasks may be placed in bulk in a window.
func (s *stageRun) clear(w *Window, mean float64) float64 {
	if math.IsInf(w.End, 1) {
		return w.End
	}
	tasks := max(0, w.End-max(w.Start, s.from)) / mean
	sd := math.Hypot(s.other.sd(), s.rest.sd())
	return w.End - (s.expect + bulkGuard*sd*math.Sqrt(tasks))
}

// level returns the time by which the windows' slots, all busy, have done n tasks of that mean; +Inf if they never
// do.
func (l *list) level(s *stageRun, n int, mean float64) float64 {
	done := func(level float64) float64 {
		sum := 0.0
		for _, o := range l.order {
			w := &l.windows[o.window]
			busy := min(level, s.clear(w, mean)) - max(w.Start, s.from)
			sum += max(0, busy) / mean * float64(min(w.slots(s.kind), s.tasks))
		}
		return sum
	}
	low := max(l.windows[l.order[0].window].Start, s.from)
	step := mean
	for done(low+step) < float64(n) {
		if step *= 2; step > huge {
			return math.Inf(1)
		}
	}
	high := low + step
	for range 50 {
		if mid := (low + high) / 2; done(mid) < float64(n) {
			low = mid
		} else {
			high = mid
		}
	}
	return low // no more than n tasks are done then
}
