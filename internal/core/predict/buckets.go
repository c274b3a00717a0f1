package predict

import (
	"encoding/binary"
	"math"
)

// buckets counts values by the index of their bucket. What a bucket holds is the business of Histogram and levels.
type buckets struct {
	base   int // index of counts[0]
	counts []int64
}

// count counts n values of bucket i.
func (b *buckets) count(i int, n int64) {
	b.cover(i, i)
	b.counts[i-b.base] += n
}

// total returns the number of values.
func (b *buckets) total() (n int64) {
	for _, c := range b.counts {
		n += c
	}
	return n
}

// cover makes room for the buckets lo to hi.
func (b *buckets) cover(lo, hi int) {
	if len(b.counts) == 0 {
		b.base, b.counts = lo, make([]int64, hi-lo+1)
		return
	}
	last := b.base + len(b.counts) - 1
	if lo >= b.base && hi <= last {
		return
	}
	base := min(lo, b.base)
	grown := make([]int64, max(hi, last)-base+1)
	copy(grown[b.base-base:], b.counts)
	b.base, b.counts = base, grown
}

// merge adds the counts of o.
func (b *buckets) merge(o *buckets) {
	if len(o.counts) == 0 {
		return
	}
	b.cover(o.base, o.base+len(o.counts)-1)
	for i, n := range o.counts {
		b.counts[o.base+i-b.base] += n
	}
}

// appendCounts encodes the number of buckets and the count of each as varints.
func (b *buckets) appendCounts(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(b.counts)))
	for _, c := range b.counts {
		to = binary.AppendUvarint(to, uint64(c))
	}
	return to
}

// varints reads varints from a slice until one is malformed.
type varints struct {
	b   []byte
	bad bool
}

// count reads an unsigned number that fits an int64.
func (r *varints) count() int64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt64 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return int64(v)
}

// counts reads what appendCounts wrote.
func (r *varints) counts() (counts []int64) {
	n := r.count()
	if n > int64(len(r.b)) { // a count has at least one byte
		r.bad = true
		return nil
	}
	for range n {
		counts = append(counts, r.count())
	}
	return counts
}

// float reads a number that is finite and not negative.
func (r *varints) float() float64 {
	v := math.Float64frombits(uint64(r.count()))
	if !(v >= 0) || math.IsInf(v, 0) {
		r.bad = true
		return 0
	}
	return v
}

// index reads a signed number that fits a bucket's index.
func (r *varints) index() int {
	v, n := binary.Varint(r.b)
	if n <= 0 || v != int64(int32(v)) {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}
