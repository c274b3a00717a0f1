package timeline

import (
	"math/bits"
	"slices"
	"time"

	"berth/internal/core/job"
)

// frontier stores the results of earlier searches. As long as nodes are only reserved, a request for
// at least as many nodes and as much time as an earlier one cannot fit earlier than that one.
// Without the frontier a search in a long queue would visit all the small free slots again.
//
// For each bucket of nodes and of time it keeps the latest result of all smaller or equal requests,
// in a two-dimensional Fenwick tree (P. Fenwick, A New Data Structure for Cumulative Frequency
// Tables, 1994) with maxima instead of sums.
type frontier struct {
	known []job.Time // buckets × buckets; nil: no results yet
	// The time in which nodes became free since. Requests that overlap it may fit earlier than
	// known.
	freed, until job.Time
}

// buckets is one more than the highest bucket, and a power of two.
const buckets = 256

// bucketBelow returns the bucket of n, which is at least 1. There are four buckets for each power of
// two.
func bucketBelow(n int) int {
	if n < 4 {
		return n
	}
	e := bits.Len(uint(n)) - 3
	return e*4 + n>>e
}

// bucketAbove returns the lowest bucket whose values are all at least n.
func bucketAbove(n int) int {
	c := bucketBelow(n)
	if n >= 4 && n&(1<<(bits.Len(uint(n))-3)-1) != 0 {
		c++
	}
	return c
}

// before returns an instant before which a request is known not to fit, except where nodes became
// free.
func (f *frontier) before(nodes int, d time.Duration) job.Time {
	at := -Never
	if f.known == nil {
		return at
	}
	for a := bucketBelow(nodes); a > 0; a &= a - 1 {
		for b := bucketBelow(int(d)); b > 0; b &= b - 1 {
			at = max(at, f.known[a*buckets+b])
		}
	}
	return at
}

// learn records that the earliest fit of a request is at an instant.
func (f *frontier) learn(nodes int, d time.Duration, at job.Time) {
	if f.known == nil {
		f.known = slices.Repeat([]job.Time{-Never}, buckets*buckets)
		f.forget()
	}
	for a := bucketAbove(nodes); a < buckets; a += a & -a {
		for b := bucketAbove(int(d)); b < buckets; b += b & -b {
			f.known[a*buckets+b] = max(f.known[a*buckets+b], at)
		}
	}
}

// release records that nodes became free.
func (f *frontier) release(from, to job.Time) {
	if f.known != nil {
		f.freed, f.until = min(f.freed, from), max(f.until, to)
	}
}

// advance discards the time before now.
func (f *frontier) advance(now job.Time) {
	if now >= f.until {
		f.forget()
	}
}

// forget clears the time in which nodes became free.
func (f *frontier) forget() { f.freed, f.until = Never, -Never }

// opened returns the range of starts of a request of duration d that overlaps the time in which
// nodes became free.
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
