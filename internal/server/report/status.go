package report

import (
	"cmp"
	"slices"
)

// StatusList is the output of `berth status --json`: the listed jobs, the newest last.
type StatusList struct {
	Jobs []Status `json:"jobs"` // the jobs that were asked for
	More int      `json:"more"` // number of jobs that are over and are not listed because of the limit
}

// NewStatusList returns the short views of jobs, the newest last. more is the number of jobs that are not listed.
func NewStatusList(views []JobView, more int) StatusList {
	sorted := NewestLast(views)
	list := StatusList{Jobs: make([]Status, len(sorted)), More: more}
	for i, v := range sorted {
		list.Jobs[i] = v.Status
		if v.Running == nil { // the summary was written by an earlier version of berth
			list.Jobs[i].Running = []RunningView{}
		}
	}
	return list
}

// NewestLast returns the views in the order in which the jobs were submitted. Jobs that are not submitted yet come
// last.
func NewestLast(views []JobView) []JobView {
	sorted := slices.Clone(views)
	slices.SortStableFunc(sorted, func(a, b JobView) int {
		order := cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		if a.Submitted.IsZero() != b.Submitted.IsZero() {
			return -order // the zero time is not before others here
		}
		return order
	})
	return sorted
}
