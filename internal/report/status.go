package report

import (
	"cmp"
	"slices"
)

// StatusList is what `berth status --json` prints: the jobs there are, newest last.
type StatusList struct {
	Jobs []Status `json:"jobs"`
}

// NewStatusList returns the short views of jobs, newest last.
func NewStatusList(views []JobView) StatusList {
	sorted := NewestLast(views)
	list := StatusList{Jobs: make([]Status, len(sorted))}
	for i, v := range sorted {
		list.Jobs[i] = v.Status
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
