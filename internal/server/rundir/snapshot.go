package rundir

import (
	"context"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// Snapshot observes the nodes and the queue of the batch system of that name.
func Snapshot(ctx context.Context, on string) (cluster.Snapshot, error) {
	at, err := observe(ctx, &job.Spec{Request: job.Request{On: on}})
	return at.Snapshot, err
}
