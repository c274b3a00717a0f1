package straggler

import "berth/internal/core/job"

// rates are the increments of counts of other attempts between two ages. A task may have fewer counts than most at an age without
// being slow, as it began with a shorter part; but then its increments are as those of others. So increments tell sooner than counts
// that a node has become slow. The zero value knows nothing.
type rates struct {
	of    []Curve          // of attempts of this run
	known map[[2]int]usual // by two ages, in seconds
}

// usual is the median of some values, and their standard deviation without outliers.
type usual struct{ middle, off float64 }

// rates returns the increments of this run's attempts.
func (v *View) rates(source job.ProgressSource) rates {
	r := rates{known: map[[2]int]usual{}}
	for _, running := range v.sample(source) {
		r.of = append(r.of, running.Track.Curve)
	}
	for i := range v.Past.Own {
		if done := &v.Past.Own[i]; done.fits(source) {
			r.of = append(r.of, done.Curve)
		}
	}
	return r
}

// between returns the usual increment between two ages; its middle is 0 if too few attempts have reached the second one.
func (r *rates) between(from, to int) usual {
	at := [2]int{from, to}
	s, known := r.known[at]
	if known {
		return s
	}
	var all []float64
	for _, c := range r.of {
		if c.known(float64(from)) && c[len(c)-1].T.Seconds() >= float64(to) {
			all = append(all, c.at(float64(to))-c.at(float64(from)))
		}
	}
	if len(all) >= fewest {
		s = usual{median(all), spread(all)}
	}
	r.known[at] = s
	return s
}

// known reports whether the attempt was measured up to an age: before that, a count may be that of its first moment, as of a program that
// reads its input at once.
func (c Curve) known(t float64) bool { return len(c) > 1 && c[1].T.Seconds() <= t }

// lately returns the speed of an attempt by its increment since an age, and the upper bound of that speed. They are unknown where
// increments tell nothing, as too few attempts have reached its age or they differ too much.
func (l *scale) lately(t *Track, since float64) (speed, most float64, known bool) {
	lag := l.window / 2 // others of this age were measured within the last interval
	from, to := int(since-lag), int(t.Now.T.Seconds()-lag)
	if from >= to || !t.Curve.known(float64(from)) {
		return 0, 0, false
	}
	u := l.rates.between(from, to)
	_, whole := l.shape.end()
	slack := max(l.sure*u.off, leastOff*whole)
	if u.middle <= slack {
		return 0, 0, false
	}
	n := t.Curve.at(float64(to)) - t.Curve.at(float64(from))
	return n / u.middle, (n + slack) / u.middle, true
}
