package history

import (
	"context"

	"berth/internal/core/job"
)

// Runs returns the latest runs, the latest first; all of them if limit is not above 0.
func (s *Store) Runs(ctx context.Context, limit int) ([]Run, error) {
	if s == nil {
		return nil, nil
	}
	if limit <= 0 {
		limit = -1
	}
	runs, err := s.selectRuns(ctx, `ORDER BY ended_ns DESC, id DESC LIMIT ?`, limit)
	return runs, s.wrap("cannot read the history of runs", err)
}

// Run returns the run of that id, and false if there is none.
func (s *Store) Run(ctx context.Context, id job.ID) (Run, bool, error) {
	if s == nil {
		return Run{}, false, nil
	}
	runs, err := s.selectRuns(ctx, `WHERE id = ?`, id)
	if err != nil || len(runs) == 0 {
		return Run{}, false, s.wrap("cannot read the history of runs", err)
	}
	return runs[0], true, nil
}
