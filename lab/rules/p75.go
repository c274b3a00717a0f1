package rules

import (
	"fmt"
	"time"

	"berth/internal/core/sched/straggler"
)

// P75 is the rule of Dryad (M. Isard et al., EuroSys 2007) as described in the paper no2-outliers, section 9. Attempts that have
// run for longer than the 75th percentile of the durations get a duplicate. Running attempts count with their age,
// so there are no duplicates before three quarters of the started tasks were done.
type P75 struct{}

// Name returns "p75".
func (P75) Name() string { return "p75" }

// Assess duplicates attempts that are older than three quarters of all.
func (P75) Assess(v *straggler.View) []straggler.Verdict {
	all := len(v.Past.Took) + len(v.Running)
	at := all * 3 / 4
	if at >= len(v.Past.Took) {
		return v.Verdicts(nil)
	}
	bound := v.Past.Took[at]
	var found []straggler.Candidate
	for i := range v.Running {
		r := &v.Running[i]
		if age := r.Age(v.Now); age.Seconds() > bound && r.Alone() {
			why := fmt.Sprintf("it has run for %v, three quarters of all attempts for less than %.0f s", age.Round(time.Second), bound)
			found = append(found, straggler.Candidate{Index: i, Rank: age.Seconds(), Verdict: straggler.Verdict{Act: straggler.Duplicate, State: straggler.Slow, Why: why}})
		}
	}
	return v.Verdicts(first(found, room(v)))
}
