package workload

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/job"
)

// MergeRigid returns the jobs of all workloads in the order of submission, those of earlier
// lists first where that is equal, and numbers them anew from 1.
func MergeRigid(lists ...[]Rigid) []Rigid {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Rigid) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range all {
		all[i].ID = int64(i + 1)
	}
	return all
}

// MergeElastic does the same with elastic jobs.
func MergeElastic(lists ...[]Elastic) []Elastic {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b Elastic) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range all {
		all[i].ID = int64(i + 1)
	}
	return all
}

// Window returns the jobs, which are in the order of submission, that are submitted from one
// time on and for so long (0: to the end), as a workload that begins with the window.
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
