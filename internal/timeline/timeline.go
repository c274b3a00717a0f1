package timeline

import (
	"math"
	"slices"
	"time"

	"berth/internal/job"
)

// Never is the end of what has none.
const Never job.Time = math.MaxInt64

// Unbounded is the duration of a slot that has no end.
const Unbounded time.Duration = math.MaxInt64

// Step is a value of a timeline: so many nodes are free from then on.
type Step struct {
	Start job.Time `json:"start_ns"`
	Free  int      `json:"free"`
}

// Slot is a free slot: a maximal rectangle under the timeline. No slot of the same
// timeline contains another (models.md, section 2).
type Slot struct {
	Start    job.Time      `json:"start_ns"` // Never: it is not in sight
	Nodes    int           `json:"nodes"`
	Duration time.Duration `json:"duration_ns"` // Unbounded: no end
}

// End returns when the slot ends, Never for one without an end.
func (s Slot) End() job.Time { return After(s.Start, s.Duration) }

// After returns the instant d after t, Never where there is none.
func After(t job.Time, d time.Duration) job.Time {
	if d == Unbounded || (d > 0 && t > Never-job.Time(d)) {
		return Never
	}
	return t.Add(d)
}

// Timeline is the number of free nodes as a step function of time, from an instant on
// and without an end: the batch queue of the paper "mr-job-adaptor", section 3. The
// number can fall below 0 where more is promised than there is.
//
// It is a sorted row of steps, neighbours of which differ. The queues of logs make some hundred
// steps and those of large clusters some thousand; a pass over a thousand takes less than a
// microsecond, and searches remember how far earlier ones came.
type Timeline struct {
	starts []job.Time // of the steps, one at least; the first is where the timeline begins
	free   []int32    // nodes that are free from then on
	front  frontier
	short  int // how many steps are so few that remembering searches costs more than it saves
}

// New returns a timeline that begins at from with so many free nodes for ever.
func New(from job.Time, free int) *Timeline {
	return &Timeline{starts: []job.Time{from}, free: []int32{int32(free)}, short: 512}
}

// Clone returns a copy that changes independently.
func (t *Timeline) Clone() *Timeline {
	return &Timeline{slices.Clone(t.starts), slices.Clone(t.free), t.front.clone(), t.short}
}

// From returns where the timeline begins.
func (t *Timeline) From() job.Time { return t.starts[0] }

// Last returns when the last step begins.
func (t *Timeline) Last() job.Time { return t.starts[len(t.starts)-1] }

// Steps returns the steps from the beginning on; neighbours differ.
func (t *Timeline) Steps() []Step {
	steps := make([]Step, len(t.starts))
	for i, at := range t.starts {
		steps[i] = Step{at, int(t.free[i])}
	}
	return steps
}

// Add makes n more nodes free from an instant until before another, Never for no end;
// a negative n reserves. What lies before the beginning is left out.
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

// split makes a step begin at an instant, not before the beginning, and returns its index.
func (t *Timeline) split(at job.Time) int {
	i := t.index(at)
	if t.starts[i] == at {
		return i
	}
	t.starts = slices.Insert(t.starts, i+1, at)
	t.free = slices.Insert(t.free, i+1, t.free[i])
	return i + 1
}

// join removes the step with an index if it does not differ from the one before.
func (t *Timeline) join(i int) {
	if i > 0 && i < len(t.free) && t.free[i] == t.free[i-1] {
		t.starts, t.free = slices.Delete(t.starts, i, i+1), slices.Delete(t.free, i, i+1)
	}
}

// index returns the index of the step of an instant; before the beginning that of the first step.
func (t *Timeline) index(at job.Time) int {
	low, high := 0, len(t.starts) // what begins at low or before is not after at
	for high-low > 1 {
		if mid := (low + high) / 2; t.starts[mid] <= at {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Advance drops what is before now, which is the beginning from then on.
func (t *Timeline) Advance(now job.Time) {
	if now <= t.From() {
		return
	}
	i := t.index(now)
	t.starts, t.free = t.starts[i:], t.free[i:]
	t.starts[0] = now
	t.front.advance(now)
}

// At returns how many nodes are free at an instant; before the beginning as many as there.
func (t *Timeline) At(at job.Time) int { return int(t.free[t.index(at)]) }

// Min returns the least number of free nodes from an instant until before another. An
// empty time counts as the instant it begins with.
func (t *Timeline) Min(from, to job.Time) int { return int(slices.Min(t.within(from, to))) }

// Max returns the greatest number of free nodes from an instant until before another. An
// empty time counts as the instant it begins with.
func (t *Timeline) Max(from, to job.Time) int { return int(slices.Max(t.within(from, to))) }

// within returns how many nodes are free in the steps from an instant until before another.
func (t *Timeline) within(from, to job.Time) []int32 {
	first, last := t.index(from), t.index(to)
	if t.starts[last] == to {
		last--
	}
	return t.free[first : max(first, last)+1]
}

// EarliestFit returns the earliest instant, not before a given one, from which on so
// many nodes are free for d; false: there is none.
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

// EarlierFit returns the earliest instant, not before a given one and before another, from
// which on so many nodes are free for d, or until that other instant if that is sooner: where
// a reservation of so many nodes for d begins that can be moved there. false: there is none.
func (t *Timeline) EarlierFit(from, before job.Time, nodes int, d time.Duration) (job.Time, bool) {
	at, ok := t.fit(max(from, t.From()), before, before, nodes, max(d, 1))
	return at, ok && at < before
}

// fit is EarliestFit where enough nodes count as free from own on, and what begins after until need
// not be found.
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
