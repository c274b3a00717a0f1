package straggler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"berth/internal/core/job"
)

// Paper is the rule of Y. Wu et al., "NO²: Speeding up Parallel Processing of Massive Compute-Intensive Tasks" (IEEE
// Transactions on Computers, 2014), sections 5 and 8: 2-means clustering on N, the progress of the running attempts. If
// the distance of the two means, relative to the higher one, exceeds T_d = T·(I_mean/I_i), attempt i of the lower class is an
// outlier. I is the progress in an interval of 3 s.
//
// The paper's tasks begin and are measured at one instant. Here each attempt is measured at instants of its own, so that N and I are those
// at equal ages: at the last multiple of the interval that both the attempt and half of all have reached, unless that is less than half of
// its age. Between two measurements N is known to be between their counts; the distance is the least that these bounds allow, so that
// attempts of equal progress are never outliers, whenever they began and were measured. Only counts of one unit are compared.
//
// An attempt without progress has I = 0, and so T_d = ∞: the rule never finds one that hangs, as in the paper. Another difference
// from it: attempts that replaced an aborted outlier are never aborted, as they would be again and again.
type Paper struct {
	T        float64 // threshold; 0: PaperT or AbortT
	Aborting bool    // outliers are aborted and started again instead of duplicated (section 8.2)
}

// The defaults of the threshold T, which the paper does not state, by the sweep in lab/results/stragglers.md. A task that is steadily f times
// slower has the distance 1−1/f and the limit T·f, so that only a T below ¼ finds it while others run; 0.2 does for f from 1.4 to 3.6. That also
// duplicates some healthy tasks, within 5 % of the processor time. An abort of a healthy task delays its job: fewest do by 0.6, which finds a
// slow task once most others are done.
const (
	PaperT = 0.2
	AbortT = 0.6
)

// Name returns "paper" or "paper-abort", with a colon and the threshold unless that is the default.
func (p Paper) Name() string {
	name := "paper"
	if p.Aborting {
		name = "paper-abort"
	}
	if p.T != 0 {
		name += ":" + strconv.FormatFloat(p.T, 'g', -1, 64)
	}
	return name
}

// Assess duplicates or aborts the outliers, the least progress first.
func (p Paper) Assess(v *View) []Verdict {
	var found []Candidate
	for source := range job.ProgressSources {
		found = append(found, p.outliers(v, source)...)
	}
	return v.Verdicts(found)
}

// outliers returns the outliers among the attempts with progress from one source.
func (p Paper) outliers(v *View, source job.ProgressSource) (found []Candidate) {
	var ages []float64
	for i := range v.Running {
		if r := &v.Running[i]; r.measured(source) {
			ages = append(ages, r.Track.Now.T.Seconds())
		}
	}
	half, every, threshold := median(ages), v.Interval.Seconds(), cmp.Or(p.T, PaperT)
	if p.T == 0 && p.Aborting {
		threshold = AbortT
	}
	known := map[float64]*classes{}
	for i := range v.Running {
		r := &v.Running[i]
		if !r.measured(source) || !r.Alone() || p.Aborting && r.Attempt.N > 1 {
			continue
		}
		age := r.Track.Now.T.Seconds()
		at := math.Floor(min(age, half)/every) * every
		if at < age/2 {
			continue // too few are as old
		}
		c := known[at]
		if c == nil {
			c = v.classes(source, at)
			known[at] = c
		}
		n := r.Track.Curve.at(at)
		if n > c.bound {
			continue
		}
		// The comparison is false for I = 0, as the limit is +Inf or NaN then.
		if limit := threshold * c.increment / (n - r.Track.Curve.at(at-every)); c.distance > limit {
			why := fmt.Sprintf("after %.0f s its class was %.2f below the other one, its limit is %.2f", at, c.distance, limit)
			found = append(found, Candidate{i, -n, Verdict{Act: p.act(), State: Slow, Why: why}})
		}
	}
	return found
}

func (p Paper) act() Action {
	if p.Aborting {
		return Abort
	}
	return Duplicate
}

// classes are the two classes of the counts of attempts at one age.
type classes struct {
	bound     float64 // highest count of the lower class
	distance  float64 // at least that of the two means, relative to the higher one
	increment float64 // mean of all until that age
}

// classes divides the attempts with progress from the source that have reached an age.
func (v *View) classes(source job.ProgressSource, age float64) *classes {
	c := &classes{}
	var of []Curve
	var n []float64
	for i := range v.Running {
		if r := &v.Running[i]; r.measured(source) && r.Track.Now.T.Seconds() >= age {
			of, n = append(of, r.Track.Curve), append(n, r.Track.Curve.at(age))
			c.increment += r.Track.Curve.at(age) - r.Track.Curve.at(age-v.Interval.Seconds())
		}
	}
	c.increment /= float64(len(of))
	c.bound = TwoMeans(n)
	var low, high []float64
	for i, curve := range of {
		least, most := curve.within(age)
		if n[i] > c.bound {
			high = append(high, least)
		} else {
			low = append(low, most)
		}
	}
	if top := mean(high); top > 0 {
		c.distance = (top - mean(low)) / top
	}
	return c
}

// mean returns the mean of values; 0 for none.
func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// measured reports whether the attempt has progress from the source.
func (r *Running) measured(source job.ProgressSource) bool {
	return r.Track != nil && r.Track.Source == source && len(r.Track.Curve) > 1
}

// within returns the bounds of the count at an age that was reached: the counts of the last measurement before it and of the first after it.
func (c Curve) within(t float64) (least, most float64) {
	i := c.from(t)
	if c[i].T.Seconds() > t {
		return c[i-1].N, c[i].N
	}
	return c[i].N, c[i].N
}

// TwoMeans divides values into the two classes with the least sum of squared distances from their means. It returns the highest value of
// the lower class. In one dimension classes are intervals, so it tries all cuts of the sorted values and the result is exact. If all values
// are equal, all are in the lower class.
func TwoMeans(values []float64) (bound float64) {
	if len(values) == 0 {
		return 0
	}
	x := slices.Sorted(slices.Values(values))
	total := 0.0
	for _, v := range x {
		total += v
	}
	best, sum := math.Inf(-1), 0.0
	bound = x[len(x)-1]
	for k := 1; k < len(x); k++ {
		sum += x[k-1]
		if x[k-1] == x[k] {
			continue
		}
		a, b := sum/float64(k), (total-sum)/float64(len(x)-k)
		// The least sum within the classes corresponds to the greatest between them: k·(n−k)·(a−b)².
		if between := float64(k) * float64(len(x)-k) * (a - b) * (a - b); between > best {
			best, bound = between, x[k-1]
		}
	}
	return bound
}
