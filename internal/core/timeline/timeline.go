package timeline

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Never is the end of a slot or reservation without an end.
const Never job.Time = math.MaxInt64

// Unbounded is the duration of a slot without an end.
const Unbounded time.Duration = math.MaxInt64

// Step is one value of a timeline: the number of nodes that are free from an instant on.
type Step struct {
	Start job.Time `json:"start_ns"` // from when, since the Unix epoch
	Free  int      `json:"free"`     // nodes
}

// Slot is a free slot: a maximal rectangle under the timeline. No slot of a timeline contains
// another (models.md, "Timeline and free slots"). null is Never or Unbounded here.
type Slot struct {
	Start    job.Time      `json:"start_ns"`    // when the free slot begins; null: never
	Nodes    int           `json:"nodes"`       // nodes that are free in it
	Duration time.Duration `json:"duration_ns"` // for how long; null: without end
}

// End returns the end of the slot, or Never.
func (s Slot) End() job.Time { return After(s.Start, s.Duration) }

// After returns the instant d after t, or Never if t has no end or d is Unbounded.
func After(t job.Time, d time.Duration) job.Time {
	if d == Unbounded || (d > 0 && t > Never-job.Time(d)) {
		return Never
	}
	return t.Add(d)
}

// Timeline is the number of free nodes as a step function of time, from an instant on and without an
// end: the batch queue of the paper "mr-job-adaptor", section 3. The number can fall below 0 if more
// nodes are reserved than exist.
//
// It is a sorted list of steps in which neighbours differ. The queues of logs have some hundred
// steps, and those of large clusters some thousand. A pass over a thousand steps takes less than a
// microsecond, and searches use the results of earlier ones.
type Timeline struct {
	starts []job.Time // starts of the steps, at least one; the first is the beginning of the timeline
	free   []int32    // free nodes of each step
	front  frontier
	short  int // up to so many steps, storing the results of searches costs more than it saves
}

// New returns a timeline that begins at from with a constant number of free nodes.
func New(from job.Time, free int) *Timeline {
	return &Timeline{starts: []job.Time{from}, free: []int32{int32(free)}, short: 512}
}

// Clone returns an independent copy.
func (t *Timeline) Clone() *Timeline {
	return &Timeline{slices.Clone(t.starts), slices.Clone(t.free), t.front.clone(), t.short}
}

// From returns the beginning of the timeline.
func (t *Timeline) From() job.Time { return t.starts[0] }

// Last returns the start of the last step.
func (t *Timeline) Last() job.Time { return t.starts[len(t.starts)-1] }

// Steps returns all steps in order; neighbours differ.
func (t *Timeline) Steps() []Step {
	steps := make([]Step, len(t.starts))
	for i, at := range t.starts {
		steps[i] = Step{at, int(t.free[i])}
	}
	return steps
}

// Add makes n more nodes free from one instant until before another (Never: no end). A negative n
// reserves nodes. The part before the beginning of the timeline is ignored.
func (t *Timeline) Add(from, to job.Time, n int) {
	if n == 0 || to <= from || to <= t.From() {
		return
	}
	if n > 0 {
		t.front.release(from, to)
	}
	first, end := t.split(max(from, t.From())), len(t.starts)
	if to != Never {
		end = t.split(to)
	}
	for i := first; i < end; i++ {
		t.free[i] += int32(n)
	}
	t.join(end)
	t.join(first)
}

// Cap lowers the number of free nodes to that of another timeline, where that is less. Before its beginning the other counts as it does there.
func (t *Timeline) Cap(by *Timeline) {
	starts := slices.Concat(t.starts, by.starts)
	slices.Sort(starts)
	for i, at := range starts {
		end := Never
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if over := t.At(at) - by.At(at); over > 0 && at >= t.From() {
			t.Add(at, end, -over)
		}
	}
}

// split makes a step begin at an instant not before the beginning, and returns its index.
func (t *Timeline) split(at job.Time) int {
	i := t.index(at)
	if t.starts[i] == at {
		return i
	}
	t.starts = slices.Insert(t.starts, i+1, at)
	t.free = slices.Insert(t.free, i+1, t.free[i])
	return i + 1
}

// join removes step i if it does not differ from the one before.
func (t *Timeline) join(i int) {
	if i > 0 && i < len(t.free) && t.free[i] == t.free[i-1] {
		t.starts, t.free = slices.Delete(t.starts, i, i+1), slices.Delete(t.free, i, i+1)
	}
}

// index returns the index of the step at an instant; before the beginning, that of the first step.
func (t *Timeline) index(at job.Time) int {
	low, high := 0, len(t.starts) // step low begins at or before at, step high after it
	for high-low > 1 {
		if mid := (low + high) / 2; t.starts[mid] <= at {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Advance makes now the new beginning and discards what is before.
func (t *Timeline) Advance(now job.Time) {
	if now <= t.From() {
		return
	}
	for len(t.starts) > 1 && t.starts[1] <= now {
		t.starts, t.free = t.starts[1:], t.free[1:]
	}
	t.starts[0] = now
	t.front.advance(now)
}

// At returns the free nodes at an instant; before the beginning, those at the beginning.
func (t *Timeline) At(at job.Time) int { return int(t.free[t.index(at)]) }

// Min returns the smallest number of free nodes from one instant until before another. An empty
// range counts as its first instant.
func (t *Timeline) Min(from, to job.Time) int { return int(slices.Min(t.within(from, to))) }

// Max returns the largest number of free nodes from one instant until before another. An empty range
// counts as its first instant.
func (t *Timeline) Max(from, to job.Time) int { return int(slices.Max(t.within(from, to))) }

// within returns the free nodes of the steps from one instant until before another.
func (t *Timeline) within(from, to job.Time) []int32 {
	first, last := t.index(from), t.index(to)
	if t.starts[last] == to {
		last--
	}
	return t.free[first : max(first, last)+1]
}

// EarliestFit returns the earliest instant, not before from, at which nodes are free for d. It
// returns false if there is none.
func (t *Timeline) EarliestFit(from job.Time, nodes int, d time.Duration) (job.Time, bool) {
	from, d = max(from, t.From()), max(d, 1)
	if len(t.starts) <= t.short || nodes <= 0 {
		return t.fit(from, Never, Never, nodes, d)
	}
	known := t.front.before(nodes, d)
	if known > from {
		if first, until := t.front.opened(d); first < known && until > from {
			if at, ok := t.fit(max(first, from), min(until, known), Never, nodes, d); ok {
				return at, true
			}
		}
	}
	at, ok := t.fit(max(from, known), Never, Never, nodes, d)
	if ok && from <= max(t.From(), known) {
		t.front.learn(nodes, d, at)
	}
	return at, ok
}

// EarlierFit returns the earliest instant in [from, before) to which a reservation can move that now
// starts at before: the nodes are free for d, or until before, from where they are the reservation's
// own. It returns false if there is none.
func (t *Timeline) EarlierFit(from, before job.Time, nodes int, d time.Duration) (job.Time, bool) {
	at, ok := t.fit(max(from, t.From()), before, before, nodes, max(d, 1))
	return at, ok && at < before
}

// fit is EarliestFit with two additions: from own on enough nodes count as free, and starts after
// until need not be found.
func (t *Timeline) fit(from, until, own job.Time, nodes int, d time.Duration) (job.Time, bool) {
	starts, free, need := t.starts, t.free[:len(t.starts)], int32(nodes)
	for i := t.index(from); ; {
		for i < len(free) && free[i] < need {
			i++
		}
		if i == len(free) || starts[i] > until {
			return 0, false
		}
		start := max(starts[i], from)
		end := min(After(start, d), own)
		for i++; i < len(free) && free[i] >= need; i++ {
		}
		if i == len(free) || starts[i] >= end {
			return start, true
		}
	}
}
