package straggler

import (
	"sort"

	"berth/internal/core/job"
)

const (
	fewest    = 4  // minimum number of running attempts for a curve of peers
	mostPeers = 48 // maximum number of attempts that it is made from
	steps     = 40 // number of its marks
)

// peerScale returns a scale made from the running attempts, nil if they are too few: their median count at each age that half of
// them have reached. It has no end; while nothing else is known, tasks are expected to take twice the median age of these attempts.
func (v *View) peerScale(source job.ProgressSource) *scale {
	of := v.sample(source)
	if len(of) < fewest {
		return nil
	}
	var ages []float64
	for _, r := range of {
		ages = append(ages, r.Track.Now.T.Seconds())
	}
	age := median(ages)
	l := &scale{window: v.window(), took: 3 * age, shape: &shape{n: []float64{0}, first: []float64{0}, last: []float64{0}, off: []float64{0}}}
	for k := 1; k <= steps; k++ {
		t := age * float64(k) / steps
		all := counts(nil, of, t)
		l.shape.push(t, median(all), spread(all))
	}
	_, n := l.shape.end()
	if n <= 0 {
		return nil
	}
	return l
}

// push appends the count at a time, and how much counts differ then.
func (s *shape) push(t, n, off float64) {
	if last := len(s.n) - 1; n <= s.n[last] {
		s.last[last], s.off[last] = t, max(s.off[last], off)
		return
	}
	s.n, s.first, s.last, s.off = append(s.n, n), append(s.first, t), append(s.last, t), append(s.off, off)
}

// counts appends the counts at an age of the attempts that have reached it.
func counts(counts []float64, of []*Running, t float64) []float64 {
	for _, r := range of {
		if r.Track.Now.T.Seconds() >= t {
			counts = append(counts, r.Track.Curve.at(t))
		}
	}
	return counts
}

// sample returns about mostPeers running attempts with progress from the source.
func (v *View) sample(source job.ProgressSource) (of []*Running) {
	for i := 0; i < len(v.Running); i += 1 + len(v.Running)/mostPeers {
		if r := &v.Running[i]; r.measured(source) {
			of = append(of, r)
		}
	}
	return of
}

// at returns the count at a time in seconds, by linear interpolation; after the end it is the last count.
func (c Curve) at(t float64) float64 {
	i := c.from(t)
	switch {
	case i == 0:
		return c[0].N
	case i == len(c):
		return c[i-1].N
	}
	from, to := c[i-1].T.Seconds(), c[i].T.Seconds()
	return c[i-1].N + (c[i].N-c[i-1].N)*(t-from)/(to-from)
}

// from returns the index of the first mark at or after a time in seconds.
func (c Curve) from(t float64) int {
	return sort.Search(len(c), func(i int) bool { return c[i].T.Seconds() >= t })
}
