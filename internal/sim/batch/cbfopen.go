package batch

import (
	"math"
	"math/bits"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// openings is where in what became free since jobs looked last something can begin: by
// classes of nodes and of time an instant before which nothing fits that asks for as much
// or more. So of all the holes that opened in a sweep a job sees only those that it can fit
// into, and not those that others of its kind have been through.
//
// Within a class of nodes instants do not fall as times rise, nor for a time as nodes rise.
type openings struct {
	first [][]job.Time // by class of nodes, by class of time
	// The classes of time that jobs have, of the shortest and of the longest.
	short, long int
	steps       []timeline.Step
}

// sizeOf returns the class of n, at least 1: two to a power of two.
func sizeOf(n int) int {
	if n < 2 {
		return 0
	}
	e := bits.Len(uint(n)) - 1
	return 2*e + n>>(e-1)&1 - 1
}

// sizeFrom returns the least value of a class.
func sizeFrom(class int) int {
	if class == 0 {
		return 1
	}
	e := (class + 1) / 2
	return 1<<e + (class+1)%2<<(e-1)
}

// sizeAbove returns the first class of which all values are n at least.
func sizeAbove(n int) int {
	c := sizeOf(n)
	if sizeFrom(c) < n {
		c++
	}
	return c
}

// times is more than the greatest class of time.
const times = 128

// admit takes down that there are jobs of so many nodes for d.
func (o *openings) admit(nodes int, d time.Duration) {
	if len(o.first) == 0 {
		o.short, o.long = times, 0
	}
	for sizeOf(nodes) >= len(o.first) {
		o.first = append(o.first, make([]job.Time, times))
	}
	c := sizeOf(int(d))
	o.short, o.long = min(o.short, c), max(o.long, c)
}

// close forgets all openings.
func (o *openings) close() {
	for _, row := range o.first {
		for c := o.short; c <= o.long; c++ {
			row[c] = timeline.Never
		}
	}
}

// reach is longer than any job is, as far as it matters.
func (o *openings) reach() time.Duration {
	if o.long >= times-5 { // the next class would begin beyond all times
		return timeline.Unbounded
	}
	return time.Duration(sizeFrom(o.long + 1))
}

// open takes down that something became free in a stretch of time, in which up to so many
// nodes are free.
func (o *openings) open(line *timeline.Timeline, f freed, most int) {
	o.steps = line.Around(f.from, f.to, o.reach(), o.steps[:0])
	for c := range min(sizeOf(most)+1, len(o.first)) {
		o.openFor(c, f)
	}
}

// openFor takes down the runs of steps that are high enough for a class of nodes and touch
// a stretch.
func (o *openings) openFor(class int, f freed) {
	nodes, first, longest := sizeFrom(class), timeline.Never, time.Duration(0)
	inside, start := false, job.Time(0)
	for _, s := range o.steps {
		if s.Start >= f.to && !inside {
			break
		}
		switch {
		case s.Free >= nodes && !inside:
			inside, start = true, s.Start
		case s.Free < nodes && inside:
			inside = false
			if s.Start > f.from {
				first, longest = min(first, start), max(longest, between(start, s.Start))
			}
		}
	}
	if longest == 0 {
		return
	}
	row := o.first[class]
	for c := min(sizeOf(int(longest)), o.long); c >= o.short && row[c] > first; c-- {
		row[c] = first
	}
}

// between returns how long it is from an instant to another.
func between(from, to job.Time) time.Duration {
	if to == timeline.Never || to-from < 0 {
		return math.MaxInt64
	}
	return to.Sub(from)
}

// earliest returns an instant before which so many nodes for d are not free.
func (o *openings) earliest(nodes int, d time.Duration) job.Time {
	return o.first[sizeOf(nodes)][sizeOf(int(d))]
}

// pass takes down that so many nodes for d are not free before an instant.
func (o *openings) pass(nodes int, d time.Duration, at job.Time) {
	from := sizeAbove(int(d))
	for _, row := range o.first[min(sizeAbove(nodes), len(o.first)):] {
		c := from
		for ; c <= o.long && row[c] < at; c++ {
			row[c] = at
		}
		if c == from {
			return
		}
	}
}
