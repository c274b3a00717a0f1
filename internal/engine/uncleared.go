package engine

import "berth/internal/job"

// Uncleared returns the elastic allocations that are over and not cleared, oldest first:
// what is left of them may still be wanted.
func (e *Engine) Uncleared() []job.AllocID {
	ids := make([]job.AllocID, len(e.over))
	for i, a := range e.over {
		ids[i] = a.id
	}
	return ids
}
