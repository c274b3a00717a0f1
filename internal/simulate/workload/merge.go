package workload

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
)

// MergeRigid merges workloads by time of submission and numbers the jobs from 1. Of jobs submitted
// at the same time, those of earlier lists come first.
func MergeRigid(lists ...[]Rigid) []Rigid {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Rigid) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range all {
		all[i].ID = int64(i + 1)
	}
	return all
}

// MergeElastic is MergeRigid for elastic jobs.
func MergeElastic(lists ...[]Elastic) []Elastic {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Elastic) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range all {
		all[i].ID = int64(i + 1)
	}
	return all
}

// Window returns the jobs submitted from an instant on and within length (0: until the end), as a
// workload that begins with the window. The jobs must be ordered by submission.
func Window(jobs []Rigid, from job.Time, length time.Duration) []Rigid {
	at := func(t job.Time) int {
		i, _ := slices.BinarySearchFunc(jobs, t, func(j Rigid, t job.Time) int { return cmp.Compare(j.Submit, t) })
		return i
	}
	end := len(jobs)
	if length > 0 {
		end = max(at(from), at(from.Add(length)))
	}
	cut := slices.Clone(jobs[at(from):end])
	for i := range cut {
		cut[i].Submit -= from
	}
	return cut
}
