package straggler

import "fmt"

// Hadoop is the rule of Hadoop 0.20 as described in M. Zaharia et al., "Improving MapReduce Performance in Heterogeneous
// Environments" (OSDI 2008), section 2.1. Once no task waits and while slots are free, an attempt that has run for a minute and whose
// progress score is 0.2 below the mean gets one duplicate.
type Hadoop struct{}

// hadoopGap is the distance of a straggler's score below the mean.
const hadoopGap = 0.2

// Name returns "hadoop".
func (Hadoop) Name() string { return "hadoop" }

// Assess duplicates attempts whose score is far below the mean.
func (Hadoop) Assess(v *View) []Verdict {
	room := v.room()
	if v.Ready > 0 || room == 0 || len(v.Running) == 0 {
		return keepAll(v)
	}
	score := v.score()
	mean := float64(v.Past.Done) // attempts that were done have a score of 1
	for i := range v.Running {
		mean += score(&v.Running[i])
	}
	mean /= float64(v.Past.Done + len(v.Running))
	var found []candidate
	for i := range v.Running {
		r := &v.Running[i]
		if s := score(r); s < mean-hadoopGap && r.Age(v.Now) >= earliest && r.alone() {
			found = append(found, candidate{i, 1 - s, Verdict{Act: Duplicate, Class: Slow, Why: fmt.Sprintf("its score is %.2f, the mean %.2f", s, mean)}})
		}
	}
	return v.verdicts(first(found, room))
}

// first keeps at most that many candidates, those of the highest rank.
func first(found []candidate, most int) []candidate {
	if most >= len(found) {
		return found
	}
	sortByRank(found)
	return found[:max(most, 0)]
}
