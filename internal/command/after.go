package command

import (
	"context"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

// nameAfter replaces the names of the jobs in --after by their ids, and removes the jobs that are
// done.
func nameAfter(ctx context.Context, h statedir.Home, spec *job.Spec) error {
	var after []job.ID
	for _, name := range spec.After {
		r, err := find(h, string(name))
		if err != nil {
			return err
		}
		v, err := view(ctx, r)
		if err != nil {
			return err
		}
		switch {
		case v.State == event.StateDone || slices.Contains(after, r.ID):
			continue
		case over(v):
			return job.ArgumentError("--after", string(r.ID)+" is "+string(v.State)+", so this job would never start", "resume it first: berth resume "+string(r.ID))
		}
		after = append(after, r.ID)
	}
	spec.After = after
	return nil
}
