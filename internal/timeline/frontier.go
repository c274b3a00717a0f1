package timeline

import (
	"math/bits"
	"slices"
	"time"

	"berth/internal/job"
)

// frontier remembers how far earlier searches came. While nodes are only reserved, what
// asks for as many nodes and as much time as an earlier search, or more, fits no earlier
// than that did. Without it a search of a long queue meets again all the holes that are
// too small for anybody.
//
// The greatest answer to all that was asked for less or as much is kept by classes of
// nodes and of time, in a Fenwick tree of two dimensions (P. Fenwick, A New Data Structure
// for Cumulative Frequency Tables, 1994) with maxima for sums.
type frontier struct {
	known []job.Time // classes × classes; nil: nothing is known
	// Where nodes became free since: what overlaps it may fit before what is known.
	freed, until job.Time
}

// classes is one more than the greatest class; a power of two.
const classes = 256

// classBelow returns the class of n, at least 1: four to a power of two.
func classBelow(n int) int {
	if n < 4 {
		return n
	}
	e := bits.Len(uint(n)) - 3
	return e*4 + n>>e
}

// classAbove returns the first class of which all values are n at least.
func classAbove(n int) int {
	c := classBelow(n)
	if n >= 4 && n&(1<<(bits.Len(uint(n))-3)-1) != 0 {
		c++
	}
	return c
}

// before returns an instant before which so many nodes for d are known not to fit, but
// where nodes became free.
func (f *frontier) before(nodes int, d time.Duration) job.Time {
	at := -Never
	if f.known == nil {
		return at
	}
	for a := classBelow(nodes); a > 0; a &= a - 1 {
		for b := classBelow(int(d)); b > 0; b &= b - 1 {
			at = max(at, f.known[a*classes+b])
		}
	}
	return at
}

// learn takes down that so many nodes for d fit at an instant and not before.
func (f *frontier) learn(nodes int, d time.Duration, at job.Time) {
	if f.known == nil {
		f.known = slices.Repeat([]job.Time{-Never}, classes*classes)
		f.forget()
	}
	for a := classAbove(nodes); a < classes; a += a & -a {
		for b := classAbove(int(d)); b < classes; b += b & -b {
			f.known[a*classes+b] = max(f.known[a*classes+b], at)
		}
	}
}

// release takes down that nodes became free.
func (f *frontier) release(from, to job.Time) {
	if f.known != nil {
		f.freed, f.until = min(f.freed, from), max(f.until, to)
	}
}

// advance takes down that there is nothing before now.
func (f *frontier) advance(now job.Time) {
	if now >= f.until {
		f.forget()
	}
}

// forget makes nowhere what became free.
func (f *frontier) forget() { f.freed, f.until = Never, -Never }

// opened returns from where on and until when something for d can begin that what became
// free makes possible.
func (f *frontier) opened(d time.Duration) (from, until job.Time) {
	if f.until < f.freed {
		return Never, -Never
	}
	if f.freed < -Never+job.Time(d) {
		return -Never, f.until
	}
	return f.freed - job.Time(d) + 1, f.until
}

func (f *frontier) clone() frontier {
	c := *f
	c.known = slices.Clone(f.known)
	return c
}
