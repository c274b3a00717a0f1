package rules

import (
	"cmp"
	"fmt"
	"slices"

	"berth/internal/core/sched/straggler"
)

// Hadoop is the rule of Hadoop 0.20 as described in M. Zaharia et al., "Improving MapReduce Performance in Heterogeneous
// Environments" (OSDI 2008), section 2.1. Once no task waits and while slots are free, an attempt that has run for a minute and whose
// progress score is 0.2 below the mean gets one duplicate.
type Hadoop struct{}

// hadoopGap is the distance of a straggler's score below the mean.
const hadoopGap = 0.2

// Name returns "hadoop".
func (Hadoop) Name() string { return "hadoop" }

// Assess duplicates attempts whose score is far below the mean.
func (Hadoop) Assess(v *straggler.View) []straggler.Verdict {
	room := room(v)
	if v.Ready > 0 || room == 0 || len(v.Running) == 0 {
		return v.Verdicts(nil)
	}
	score := score(v)
	mean := float64(v.Past.Done) // attempts that were done have a score of 1
	for i := range v.Running {
		mean += score(&v.Running[i])
	}
	mean /= float64(v.Past.Done + len(v.Running))
	var found []straggler.Candidate
	for i := range v.Running {
		r := &v.Running[i]
		if s := score(r); s < mean-hadoopGap && r.Age(v.Now) >= earliest && r.Alone() {
			found = append(found, straggler.Candidate{Index: i, Rank: 1 - s, Verdict: straggler.Verdict{Act: straggler.Duplicate, State: straggler.Slow, Why: fmt.Sprintf("its score is %.2f, the mean %.2f", s, mean)}})
		}
	}
	return v.Verdicts(first(found, room))
}

// first keeps at most that many candidates, those of the highest rank.
func first(found []straggler.Candidate, most int) []straggler.Candidate {
	if most >= len(found) {
		return found
	}
	slices.SortStableFunc(found, func(a, b straggler.Candidate) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Index, b.Index))
	})
	return found[:max(most, 0)]
}
