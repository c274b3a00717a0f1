package predict

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// levels counts non-negative integers in buckets an eighth of an octave wide and always knows an upper quantile of
// them: updating it after one more value takes constant time on average. Like Histogram it does not depend on the
// order of the values. It is coarser and several times as fast, because the engine adds to it at the end of each
// attempt.
type levels struct {
	n      int64
	base   int // bucket of counts[0]
	counts []int64
	max    int64 // the largest value
	at     int   // the bucket that the quantile lies in
	above  int64 // values in buckets above it
}

// subBits is the number of bits below the highest one that determine a value's bucket.
const subBits = 3

// levelOf returns the bucket of v. Each value below 2·2^subBits has a bucket of its own.
func levelOf(v int64) int {
	v = max(v, 0)
	shift := max(bits.Len64(uint64(v))-1-subBits, 0)
	return shift<<subBits + int(v>>shift)
}

// bottom returns the least value of a bucket.
func bottom(level int) int64 {
	shift := max(level>>subBits-1, 0)
	return int64(level-shift<<subBits) << shift
}

// highest is the bucket of the largest int64.
var highest = levelOf(math.MaxInt64)

// add counts a value and updates the quantile, which spare values in a thousand may exceed.
func (l *levels) add(v, spare int64) {
	i := levelOf(v)
	l.cover(i, i)
	l.counts[i-l.base]++
	l.n++
	l.max = max(l.max, v)
	if i > l.at {
		l.above++
	}
	l.find(spare)
}

// find moves the quantile to the lowest bucket above which at most the allowed fraction of values lies.
func (l *levels) find(spare int64) {
	allowed := l.n * spare / 1000
	for l.above > allowed {
		l.at++
		l.above -= l.count(l.at)
	}
	for l.at > l.base && l.above+l.count(l.at) <= allowed {
		l.above += l.count(l.at)
		l.at--
	}
}

// count returns the number of values in a bucket.
func (l *levels) count(level int) int64 {
	if i := level - l.base; i >= 0 && i < len(l.counts) {
		return l.counts[i]
	}
	return 0
}

// cover makes room for the buckets lo to hi.
func (l *levels) cover(lo, hi int) {
	if len(l.counts) == 0 {
		l.base, l.at, l.counts = lo, lo, make([]int64, hi-lo+1)
		return
	}
	last := l.base + len(l.counts) - 1
	if lo >= l.base && hi <= last {
		return
	}
	base := min(lo, l.base)
	grown := make([]int64, max(hi, last)-base+1)
	copy(grown[l.base-base:], l.counts)
	l.base, l.counts = base, grown
}

// merge adds the values of o.
func (l *levels) merge(o *levels, spare int64) {
	if o.n == 0 {
		return
	}
	l.cover(o.base, o.base+len(o.counts)-1)
	for i, c := range o.counts {
		l.counts[o.base+i-l.base] += c
		if o.base+i > l.at {
			l.above += c
		}
	}
	l.n += o.n
	l.max = max(l.max, o.max)
	l.find(spare)
}

// middle returns the middle of the quantile's bucket, 0 without values. It is at most the largest value.
func (l *levels) middle() int64 {
	return min(bottom(l.at)+(bottom(l.at+1)-bottom(l.at))/2, l.max)
}

// top returns the upper end of the quantile's bucket, at most the largest value.
func (l *levels) top() int64 { return min(bottom(l.at+1)-1, l.max) }

// mostValues is the largest plausible number of values; an encoding with more is rejected.
const mostValues = 1 << 48

// append encodes the counts: the largest value, the first bucket, the number of buckets, and the count of each.
func (l *levels) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(l.max))
	b = binary.AppendUvarint(b, uint64(l.base))
	b = binary.AppendUvarint(b, uint64(len(l.counts)))
	for _, c := range l.counts {
		b = binary.AppendUvarint(b, uint64(c))
	}
	return b
}

// read decodes the form that append writes; r.bad is set where it is malformed.
func (l *levels) read(r *varints, spare int64) {
	got := levels{max: r.count()}
	base, n := r.count(), r.count()
	if r.bad || n > int64(len(r.b)) || base+n > int64(highest)+1 {
		r.bad = true
		return
	}
	got.base, got.at = int(base), int(base)
	for range n {
		c := r.count()
		if got.n += c; c > mostValues || got.n > mostValues {
			r.bad = true
			return
		}
		got.counts = append(got.counts, c)
	}
	if got.n > 0 {
		got.above = got.n - got.counts[0]
		got.find(spare)
	}
	*l = got
}
