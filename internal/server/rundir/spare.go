package rundir

import (
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver/registry"
	"berth/internal/sys/statedir"
)

// use adds the user's idle allocations to the planning of a job. Those that serve the job count as present. The
// others are given back when the job makes its own requests, so they are removed from the snapshot; the batch system
// would still count them, and is not asked to check requests.
func (at *backend) use(h statedir.Home, spec *job.Spec, spare func() []job.Live) {
	if at.Snapshot.Queue == nil {
		return
	}
	for _, s := range spare() {
		if plan.Serves(&at.Snapshot, spec, s.Request) {
			at.idle = append(at.idle, s)
			continue
		}
		id := registry.Batch(at.Snapshot.Driver).JobOf(h.Server(), s.ID)
		at.Snapshot = at.Snapshot.Without(id)
		at.Tester = nil
	}
}
