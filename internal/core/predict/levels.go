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
	buckets
	n     int64
	max   int64 // the largest value
	at    int   // the bucket that the quantile lies in
	above int64 // values in buckets above it
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
	if l.n++; l.n == 1 {
		l.at = i
	}
	l.count(i, 1)
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
		l.above -= l.in(l.at)
	}
	for l.at > l.base && l.above+l.in(l.at) <= allowed {
		l.above += l.in(l.at)
		l.at--
	}
}

// merge adds the values of o.
func (l *levels) merge(o *levels, spare int64) {
	if o.n == 0 {
		return
	}
	if l.n == 0 {
		l.at = o.base
	}
	l.buckets.merge(&o.buckets)
	for i, c := range o.counts {
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
	return l.appendCounts(binary.AppendUvarint(b, uint64(l.base)))
}

// read decodes the form that append writes; r.bad is set where it is malformed.
func (l *levels) read(r *varints, spare int64) {
	got := levels{max: r.count()}
	base := r.count()
	got.counts = r.counts()
	if r.bad || base > int64(highest) || base+int64(len(got.counts)) > int64(highest)+1 {
		r.bad = true
		return
	}
	got.base, got.at = int(base), int(base)
	for _, c := range got.counts {
		if got.n += c; c > mostValues || got.n > mostValues {
			r.bad = true
			return
		}
	}
	if got.n > 0 {
		got.above = got.n - got.counts[0]
		got.find(spare)
	}
	*l = got
}
