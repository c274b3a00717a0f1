package straggler

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"berth/internal/core/job"
)

// scale converts counts into virtual time: seconds of attempts that were done, or of the peers of an attempt.
type scale struct {
	shape  *shape  // counts of a task over time
	ends   []end   // of the attempts that it is made from, by count; none: they still run, and the end is unknown
	took   float64 // seconds that a fresh attempt takes; a guess if there are no ends
	window float64 // see View.window
	loose  float64 // share of virtual time that is noise, as healthy attempts differ by that much
	rates  rates   // of this run
	sure   float64 // number of standard deviations beyond which a difference from healthy attempts is not chance
}

// end is the time and the count at which an attempt ended.
type end struct{ n, t float64 }

// reading is the virtual time of one count.
type reading struct {
	tau       float64 // virtual time
	from, to  float64 // bounds of the virtual time, given the slack of counts
	low, high float64 // the same without the noise of speeds
	flat      float64 // until then the count may stay the same
	left      float64 // virtual time to the end; a guess if over
	over      bool    // most attempts that were done ended with a lower count
}

// read returns the virtual time of a count.
func (l *scale) read(n float64) reading {
	r := reading{}
	r.tau, r.flat = l.shape.inverse(n)
	slack := l.shape.slack(n, l.sure)
	r.from, _ = l.shape.inverse(max(n-slack, 0))
	_, r.to = l.shape.inverse(n + slack)
	r.low, r.high = r.from, max(r.to, r.flat)
	r.from, r.to = r.from*(1-l.loose), max(r.to, r.flat)*(1+l.loose)
	r.left = l.left(n, r.tau)
	if r.left < 0 {
		// The attempt has more to do than most had. As nothing shows how much, a tenth of its progress is assumed.
		r.over, r.left = true, r.tau/10
	}
	return r
}

// left returns the median virtual time to the end of the attempts that had counted at least n when they ended; below 0 if they are fewer than
// half. If no end is known, it is the time that most attempts have run so far.
func (l *scale) left(n, tau float64) float64 {
	if len(l.ends) == 0 {
		return max(l.took-tau, tau/10)
	}
	i := sort.Search(len(l.ends), func(i int) bool { return l.ends[i].n >= n })
	of := l.ends[i:]
	if 2*len(of) < len(l.ends) {
		return -1
	}
	return max((of[(len(of)-1)/2].t+of[len(of)/2].t)/2-tau, 0)
}

// usual returns the virtual time that the count may mean and that is next to t, as an attempt is more likely to be as fast as others than not.
func (r *reading) usual(t float64) float64 { return min(max(t, r.low), r.high) }

// curveScale returns the scale for progress from the source: the curves of attempts of this run that were done or, while
// these are too few, the median of the running ones. Earlier runs had other nodes or other inputs, so they determine the distance to
// the end but not the speed of a healthy attempt. It is nil if too few attempts run and none of this run was done.
func (v *View) curveScale(source job.ProgressSource) (l *scale) {
	own, earlier := v.done(v.Past.Own, source), v.done(v.Past.Earlier, source)
	switch peers := v.peerScale(source); {
	case own != nil && (len(own.ends) >= fewest || peers == nil):
		l = own
	case peers != nil && own != nil:
		l = peers
		l.ends, l.took = own.ends, own.took
	case peers != nil && earlier != nil:
		l = peers
		l.adopt(earlier)
	case peers != nil:
		l = peers
	}
	if l != nil {
		l.window, l.sure, l.rates = v.window(), surely(len(v.Running)), v.rates(source)
		l.learn(v.Past)
	}
	return l
}

// surely returns the number of standard deviations beyond which a difference from healthy attempts is not chance: the largest of n
// differences by chance is about √(2 ln n) of them.
func surely(n int) float64 { return max(2, math.Sqrt(2*math.Log(float64(max(n, 1))))) }

// adopt adds the ends of earlier runs, their times scaled by the pace of this run.
func (l *scale) adopt(earlier *scale) {
	pace := l.pace(earlier)
	l.took = earlier.took * pace
	for _, e := range earlier.ends {
		l.ends = append(l.ends, end{e.n, e.t * pace})
	}
}

// pace returns the median ratio of the times in this run to those of earlier runs, at even steps of the counts so far: long stretches with
// nearly no counts, in which a count says little about the time, weigh little. As long as the attempts are young, times are known to a
// large part of themselves only, and the ratio is taken as nearer to 1.
func (l *scale) pace(earlier *scale) float64 {
	ratios := []float64{}
	age, most := l.shape.end()
	for k := 1; k <= steps; k++ {
		n := most * float64(k) / steps
		t, _ := l.shape.inverse(n)
		if tau, _ := earlier.shape.inverse(n); t >= min(age/4, l.window) && tau > 0 {
			ratios = append(ratios, t/tau)
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	return 1 + (median(ratios)-1)*age/(age+l.window)
}

// The bounds of the variation in speed of healthy attempts.
const leastLoose, mostLoose = 0.02, 0.15

// learn sets the time of a fresh attempt to the median of this run's durations, and how much healthy attempts differ: the spread of these
// durations. Outliers are the minority, so the median distance from the median describes the others. Counts of peers of the same age
// include that variation already.
func (l *scale) learn(p *Past) {
	l.loose = leastLoose
	if len(p.Took) > 0 {
		l.took = median(p.Took)
	}
	if len(p.Took) >= fewest {
		l.loose = min(max(spread(p.Took)/l.took, leastLoose), mostLoose)
	}
}

// done returns a scale made from attempts that were done, nil for none.
func (v *View) done(refs []Reference, source job.ProgressSource) *scale {
	l := &scale{}
	var took []float64
	var of []*shape
	for i := range refs {
		if r := &refs[i]; r.fits(source) {
			s := r.Curve.shape()
			t, n := s.end()
			of, l.ends = append(of, s), append(l.ends, end{n, t})
			took = append(took, t)
		}
	}
	if len(of) == 0 {
		return nil
	}
	slices.SortFunc(l.ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.t, b.t)) })
	l.shape, l.took = medianShape(of), median(took)
	l.differ(of, v.sample(source))
	return l
}

// differ sets how much the counts of healthy attempts differ, running ones included.
func (l *scale) differ(of []*shape, running []*Running) {
	l.shape.off = make([]float64, len(l.shape.n))
	values := make([]float64, 0, len(of)+len(running))
	for k, t := range l.shape.first {
		values = values[:0]
		for _, s := range of {
			values = append(values, s.count(t))
		}
		values = counts(values, running, t)
		l.shape.off[k] = spread(values)
	}
}

func (r *Reference) fits(source job.ProgressSource) bool {
	return r.Source == source && len(r.Curve) > 1 && r.End().N > 0
}
