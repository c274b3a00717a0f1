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
// It keeps the changes between neighbouring steps, not the steps, in a B+-tree of
// blocks that know the sum and the least and greatest running sum of what is below
// them. So a reservation is two changes whatever it spans, steps that became equal
// vanish by themselves, and each operation takes time logarithmic in the number of
// steps, besides EarliestFit, see there. Blocks lie in slices and are used again:
// nothing is allocated unless the number of steps grows beyond what it ever was.
type Timeline struct {
	from  job.Time // where it begins
	base  int      // the value there
	tree  tree
	front frontier
	low   int // the level of trees up to which remembering searches costs more than it saves
}

// New returns a timeline that begins at from with so many free nodes for ever.
func New(from job.Time, free int) *Timeline {
	return &Timeline{from: from, base: free, tree: newTree(), low: 1}
}

// Clone returns a copy that changes independently.
func (t *Timeline) Clone() *Timeline {
	c := *t
	c.tree.leaves.blocks = slices.Clone(t.tree.leaves.blocks)
	c.tree.inners.blocks = slices.Clone(t.tree.inners.blocks)
	c.front = t.front.clone()
	return &c
}

// From returns where the timeline begins.
func (t *Timeline) From() job.Time { return t.from }

// Add makes n more nodes free from an instant until before another, Never for no end;
// a negative n reserves. What lies before the beginning is left out.
func (t *Timeline) Add(from, to job.Time, n int) {
	if n == 0 || to <= from || to <= t.from {
		return
	}
	if n > 0 {
		t.front.release(from, to)
	}
	if from <= t.from {
		t.base += n
	} else {
		t.tree.change(from, n)
	}
	if to != Never {
		t.tree.change(to, -n)
	}
}

// Advance drops what is before now, which is the beginning from then on.
func (t *Timeline) Advance(now job.Time) {
	if now <= t.from {
		return
	}
	t.from = now
	t.front.advance(now)
	t.base += t.tree.drop(now)
}

// At returns how many nodes are free at an instant; before the beginning as many as there.
func (t *Timeline) At(at job.Time) int { return t.base + t.tree.sum(at) }

// Min returns the least number of free nodes from an instant until before another. An
// empty time counts as the instant it begins with.
func (t *Timeline) Min(from, to job.Time) int {
	from = max(from, t.from)
	return t.tree.least(t.tree.top, t.tree.root, t.base, from, to, t.At(from), 1)
}

// Max returns the greatest number of free nodes from an instant until before another. An
// empty time counts as the instant it begins with.
func (t *Timeline) Max(from, to job.Time) int {
	from = max(from, t.from)
	return -t.tree.least(t.tree.top, t.tree.root, t.base, from, to, -t.At(from), -1)
}

// EarliestFit returns the earliest instant, not before a given one, from which on so
// many nodes are free for d; false: there is none.
//
// The time it takes is logarithmic in the number of steps, and proportional to the number
// of stretches that have enough nodes but do not last, from the latest instant on that is
// known from earlier searches to be too early.
func (t *Timeline) EarliestFit(from job.Time, nodes int, d time.Duration) (job.Time, bool) {
	from, d = max(from, t.from), max(d, 1)
	if t.tree.top <= t.low || nodes <= 0 {
		return t.search(from, Never, nodes, d)
	}
	known := t.front.before(nodes, d)
	if known > from {
		if first, until := t.front.opened(d); first < known && until > from {
			if at, ok := t.search(max(first, from), min(until, known), nodes, d); ok {
				return at, true
			}
		}
	}
	at, ok := t.search(max(from, known), Never, nodes, d)
	if ok && from <= max(t.from, known) {
		t.front.learn(nodes, d, at)
	}
	return at, ok
}

// EarlierFit returns the earliest instant, not before a given one and before another, from
// which on so many nodes are free for d, or until that other instant if that is sooner: where
// a reservation of so many nodes for d begins that can be moved there. false: there is none.
func (t *Timeline) EarlierFit(from, before job.Time, nodes int, d time.Duration) (job.Time, bool) {
	from = max(from, t.from)
	if from >= before {
		return 0, false
	}
	f := fit{tree: &t.tree, nodes: nodes, d: max(d, 1), from: from, until: before - 1, own: before}
	at, ok := f.first(t.base)
	return at, ok && at < before
}

// search is EarliestFit without a memory. What begins after until need not be found.
func (t *Timeline) search(from, until job.Time, nodes int, d time.Duration) (job.Time, bool) {
	f := fit{tree: &t.tree, nodes: nodes, d: d, from: from, until: until, own: Never}
	return f.first(t.base)
}

// first returns where the first stretch begins; the value where the timeline begins is given.
func (f *fit) first(base int) (job.Time, bool) {
	if base >= f.nodes {
		f.open(f.from)
	}
	f.search(f.tree.top, f.tree.root, base, Never)
	if !f.found {
		return 0, false
	}
	return f.start, true
}
