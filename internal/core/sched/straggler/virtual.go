package straggler

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// shape is a curve of counts over virtual time, stored for its inverse: n[k] was the count from first[k] to last[k] seconds. Between two
// counts the inverse is linear. If first and last differ the curve is flat, as when the program entered no planted function.
type shape struct {
	n, first, last []float64
	off            []float64 // how much the counts of healthy attempts differ at that time; nil: unknown
}

// leastOff is the minimum difference of counts, as a share of all.
const leastOff = 0.005

// slack returns how much a count may differ from the usual one by chance: that many standard deviations.
func (s *shape) slack(n, sure float64) float64 {
	_, most := s.end()
	off := leastOff * most
	if s.off != nil {
		i := min(sort.SearchFloat64s(s.n, n), len(s.off)-1)
		off = max(off, sure*s.off[i], sure*s.off[max(i-1, 0)])
	}
	return off
}

// shape returns the shape of a curve, in seconds. If several marks have the same count, the flat stretch lasts until the
// next mark with a higher count, as that count was reached somewhere before it.
func (c Curve) shape() *shape {
	s := &shape{}
	for i := 0; i < len(c); {
		k := i
		for k+1 < len(c) && c[k+1].N == c[i].N {
			k++
		}
		last := c[k].T
		if k > i && k+1 < len(c) {
			last = c[k+1].T
		}
		s.n = append(s.n, c[i].N)
		s.first, s.last = append(s.first, c[i].T.Seconds()), append(s.last, last.Seconds())
		i = k + 1
	}
	return s
}

// end returns the last time and count.
func (s *shape) end() (t, n float64) { return s.last[len(s.n)-1], s.n[len(s.n)-1] }

// inverse returns N⁻¹(n): the first and the last time with that count. Beyond the end it continues at the mean speed.
func (s *shape) inverse(n float64) (first, last float64) {
	i := sort.SearchFloat64s(s.n, n)
	switch {
	case i == len(s.n):
		t, most := s.end()
		t *= n / max(most, 1e-9)
		return t, t
	case s.n[i] == n || i == 0:
		return s.first[i], s.last[i]
	}
	from, to := s.last[i-1], max(s.first[i], s.last[i-1])
	t := from + (to-from)*(n-s.n[i-1])/(s.n[i]-s.n[i-1])
	return t, t
}

// count returns the count at a time.
func (s *shape) count(t float64) float64 {
	i := sort.SearchFloat64s(s.first, t)
	switch {
	case i == len(s.n):
		return s.n[i-1]
	case s.first[i] == t || i == 0 || t <= s.last[i-1]:
		return s.n[max(i-1, 0)]
	}
	return s.n[i-1] + (s.n[i]-s.n[i-1])*(t-s.last[i-1])/(s.first[i]-s.last[i-1])
}

// medianShape returns the median of shapes: for each count of the shape with the median end, the median of all inverses. So a slow attempt
// among them does little harm.
func medianShape(of []*shape) *shape {
	if len(of) == 1 {
		return of[0]
	}
	byEnd := slices.Clone(of)
	slices.SortStableFunc(byEnd, func(a, b *shape) int {
		x, _ := a.end()
		y, _ := b.end()
		return cmp.Compare(x, y)
	})
	base := byEnd[len(byEnd)/2]
	s := &shape{}
	at := 0.0
	firsts, lasts := make([]float64, len(of)), make([]float64, len(of))
	for _, n := range base.n {
		for i, one := range of {
			firsts[i], lasts[i] = one.inverse(n)
		}
		first := max(median(firsts), at)
		at = max(median(lasts), first)
		s.n, s.first, s.last = append(s.n, n), append(s.first, first), append(s.last, at)
	}
	return s
}

// median sorts the values and returns the middle one; 0 for none.
func median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	if len(x)%2 == 1 {
		return x[len(x)/2]
	}
	return (x[len(x)/2-1] + x[len(x)/2]) / 2
}

// spread returns an estimate of the standard deviation that ignores outliers: 1.4826 times the median distance from
// the median.
func spread(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	middle := median(x)
	off := make([]float64, len(x))
	for i := range x {
		off[i] = math.Abs(x[i] - middle)
	}
	return 1.4826 * median(off)
}
