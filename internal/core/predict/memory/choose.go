package memory

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
)

const (
	// margin is what a limit has above the use that it is meant for, as two runs of one task never use quite the same.
	margin = 1.02
	// mostFail is the share of tasks that may run out of their first limit. It bounds the number of attempts; how few of
	// them are worth it follows from the waste.
	mostFail = 0.1
	// failureCost is how much an attempt that runs out of memory costs, in relation to what it held: it also delays the
	// tasks behind it.
	failureCost = 1.5
)

// choice is the limit for a task by one model.
type choice struct {
	predicted float64 // bytes
	factor    float64 // by which that is to be multiplied
	most      float64 // the largest factor that a task has needed
	waste     float64 // expected, bytes for each second of a task
}

const (
	// grains is the number of steps in which limits double, so that the tasks of a bag have few different ones.
	grains = 32
	// leastLimit is the least limit that is chosen, in bytes. A node hardly ever lacks less.
	leastLimit = 32 << 20
)

// Round rounds a limit that First or Next chose up to a step, or to the least that is chosen.
func Round(limit int64) int64 { return job.Steps(max(limit-1, leastLimit), grains) }

// best returns the choice of the model that would have wasted least. ok is false without enough samples.
func (h *History) best(size int64) (best choice, ok bool) {
	if len(h.samples) < fewest {
		return best, false
	}
	for m, p := range predict(h.samples, size) {
		if len(h.outcomes[m]) < unproven {
			continue
		}
		c := choose(h.outcomes[m])
		c.predicted = p
		if !ok || c.waste < best.waste {
			best, ok = c, true
		}
	}
	return best, ok
}

// choose returns the factor with the least expected waste. Tasks that need more get another attempt with the largest
// factor so far. One task in n+1 is expected to need more than all n before it.
func choose(of []outcome) choice {
	sorted := slices.Clone(of)
	slices.SortFunc(sorted, func(a, b outcome) int { return cmp.Compare(a.ratio, b.ratio) })
	n := len(sorted)
	var all, allUsed, time float64 // sums over the outcomes: weight, used byte-seconds, seconds
	for _, o := range sorted {
		all += o.weight
		allUsed += o.ratio * o.weight
		time += o.time
	}
	c := choice{most: sorted[n-1].ratio * margin}
	unknown := all / float64(n) // the weight of a task that needs more than all before it
	least, below, belowUsed := -1.0, 0.0, 0.0
	for i, o := range sorted {
		below += o.weight
		belowUsed += o.ratio * o.weight
		if float64(n-1-i) > mostFail*float64(n+1) || i+1 < n && sorted[i+1].ratio == o.ratio {
			continue
		}
		q := o.ratio * margin
		above, aboveUsed := all-below, allUsed-belowUsed
		waste := q*below - belowUsed + failureCost*q*above + max(c.most, q)*above - aboveUsed + unknown*(failureCost*q+c.most/2)
		if least < 0 || waste < least {
			least, c.factor = waste, q
		}
	}
	c.waste = least / time
	return c
}
