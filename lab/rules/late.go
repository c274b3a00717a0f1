package rules

import (
	"fmt"
	"math"
	"slices"

	"berth/internal/core/sched/straggler"
)

// LATE is the rule "Longest Approximate Time to End" of M. Zaharia et al. (OSDI 2008), section 4. Of the attempts whose
// progress rate is below the 25th percentile, the one with the latest expected end gets a duplicate, while slots are free,
// no task waits for one, and fewer than a tenth of all slots run duplicates. The engine avoids slow nodes.
type LATE struct{}

// The thresholds of section 4.4.
const (
	slowTask       = 0.25 // SlowTaskThreshold: a percentile of progress rates
	speculativeCap = 0.10 // SpeculativeCap: a share of all slots
)

// Name returns "late".
func (LATE) Name() string { return "late" }

// Assess duplicates the attempts with the longest approximate time to end.
func (LATE) Assess(v *straggler.View) []straggler.Verdict {
	most := min(int(math.Ceil(speculativeCap*float64(v.Slots)))-duplicates(v), room(v))
	if v.Ready > 0 || most <= 0 || len(v.Running) == 0 {
		return v.Verdicts(nil)
	}
	score := score(v)
	rates := make([]float64, len(v.Running))
	for i := range v.Running {
		if r := &v.Running[i]; r.Age(v.Now) > 0 {
			rates[i] = score(r) / r.Age(v.Now).Seconds()
		}
	}
	threshold := slices.Sorted(slices.Values(allRates(v, rates)))
	bound := threshold[int(slowTask*float64(len(threshold)-1))]
	var found []straggler.Candidate
	for i := range v.Running {
		r := &v.Running[i]
		if rates[i] < bound && r.Age(v.Now) >= earliest && r.Alone() {
			left := (1 - score(r)) / max(rates[i], 1e-9)
			why := fmt.Sprintf("its progress rate is below the 25th percentile, and it needs about %.0f s more", left)
			found = append(found, straggler.Candidate{Index: i, Rank: left, Verdict: straggler.Verdict{Act: straggler.Duplicate, State: straggler.Slow, End: v.After(left), Why: why}})
		}
	}
	return v.Verdicts(first(found, most))
}

// allRates returns the progress rates of the running attempts and of those that were done.
func allRates(v *straggler.View, running []float64) []float64 {
	all := slices.Clone(running)
	for _, d := range v.Past.Took {
		all = append(all, 1/max(d, 1e-3))
	}
	return all
}
