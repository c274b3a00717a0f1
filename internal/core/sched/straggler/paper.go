package straggler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Paper is the rule of Y. Wu et al., "NO²: Speeding up Parallel Processing of Massive Compute-Intensive Tasks" (IEEE
// Transactions on Computers, 2014), sections 5 and 8: 2-means clustering on N, the progress of the running attempts. If
// the distance of the two means, relative to the higher one, exceeds T_d = T·(I_mean/I_i), attempt i of the lower class is an
// outlier. I is the progress in the last interval of 3 s.
//
// An attempt without progress has I = 0, and so T_d = ∞: the rule never finds one that hangs. Attempts that started later than
// others look slow to it. Both follow the paper. The one difference: attempts that replaced an aborted outlier are never aborted,
// as they would be again and again.
type Paper struct {
	T        float64 // threshold; 0: PaperT
	Aborting bool    // outliers are aborted and started again instead of duplicated (section 8.2)
}

// PaperT is the default of the threshold T, which the paper does not state: the best of the sweep in lab/results/stragglers.md.
const PaperT = 0.3

// Name returns "paper" or "paper-abort".
func (p Paper) Name() string {
	if p.Aborting {
		return "paper-abort"
	}
	return "paper"
}

// Assess duplicates or aborts the outliers, the least progress first.
func (p Paper) Assess(v *View) []Verdict {
	n, mean := v.counts(), 0.0
	for i := range v.Running {
		if t := v.Running[i].Track; t != nil {
			mean += t.Increment() / float64(len(v.Running))
		}
	}
	low, high, bound := TwoMeans(n)
	if high <= 0 || low == high {
		return KeepAll(v)
	}
	distance := (high - low) / high
	var found []Candidate
	for i := range v.Running {
		r := &v.Running[i]
		if n[i] > bound || !r.Alone() || r.Track == nil || p.Aborting && r.Attempt.N > 1 {
			continue
		}
		if limit := cmp.Or(p.T, PaperT) * mean / r.Track.Increment(); distance > limit { // false for I = 0, as the limit is +Inf or NaN then
			why := fmt.Sprintf("its class is %.2f below the other one, its limit is %.2f", distance, limit)
			found = append(found, Candidate{i, -n[i], Verdict{Act: p.act(), State: Slow, Why: why}})
		}
	}
	return v.Verdicts(found)
}

func (p Paper) act() Action {
	if p.Aborting {
		return Abort
	}
	return Duplicate
}

// counts returns N of all running attempts.
func (v *View) counts() []float64 {
	n := make([]float64, len(v.Running))
	for i := range v.Running {
		n[i] = v.Running[i].count()
	}
	return n
}

// TwoMeans divides values into the two classes with the least sum of squared distances from their means. It returns the means and
// the highest value of the lower class. In one dimension classes are intervals, so it tries all cuts of the sorted values and the
// result is exact. If all values are equal, both means are, too.
func TwoMeans(values []float64) (low, high, bound float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	x := slices.Sorted(slices.Values(values))
	total := 0.0
	for _, v := range x {
		total += v
	}
	best, sum := math.Inf(-1), 0.0
	low, high, bound = total/float64(len(x)), total/float64(len(x)), x[len(x)-1]
	for k := 1; k < len(x); k++ {
		sum += x[k-1]
		if x[k-1] == x[k] {
			continue
		}
		a, b := sum/float64(k), (total-sum)/float64(len(x)-k)
		// The least sum within the classes corresponds to the greatest between them: k·(n−k)·(a−b)².
		if between := float64(k) * float64(len(x)-k) * (a - b) * (a - b); between > best {
			best, low, high, bound = between, a, b, x[k-1]
		}
	}
	return low, high, bound
}
