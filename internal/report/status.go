package report

import (
	"cmp"
	"slices"
)

// StatusList is what `berth status --json` prints: the jobs that were asked for, newest last.
type StatusList struct {
	Jobs []Status `json:"jobs"`
	More int      `json:"more"` // jobs that are over and are not listed, as they are beyond the limit
}

// NewStatusList returns the short views of jobs, newest last, beside more that are not listed.
func NewStatusList(views []JobView, more int) StatusList {
	sorted := NewestLast(views)
	list := StatusList{Jobs: make([]Status, len(sorted)), More: more}
	for i, v := range sorted {
		list.Jobs[i] = v.Status
		if v.Running == nil { // a summary of a job that ended under a berth before this one
			list.Jobs[i].Running = []RunningView{}
		}
	}
	return list
}

// NewestLast returns the views in the order in which the jobs were submitted; those
// that were not yet come last.
func NewestLast(views []JobView) []JobView {
	sorted := slices.Clone(views)
	slices.SortStableFunc(sorted, func(a, b JobView) int {
		switch {
		case a.Submitted.IsZero() != b.Submitted.IsZero():
			if a.Submitted.IsZero() {
				return 1
			}
			return -1
		default:
			return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
		}
	})
	return sorted
}
