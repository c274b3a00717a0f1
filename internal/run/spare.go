package run

import (
	"berth/internal/driver/registry"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan"
)

// use has a job planned with the user's allocations that wait for work. Those that would
// serve it are there at once. The others are given back when it asks for its own, so the
// queue is looked at without them; the batch system itself would still reckon with them, and is not asked.
func (at *backend) use(h home.Home, spec *job.Spec, spare []job.Live) {
	if at.Snapshot.Queue == nil {
		return
	}
	for _, s := range spare {
		if plan.Serves(&at.Snapshot, spec, s.Request) {
			at.idle = append(at.idle, s)
			continue
		}
		id := registry.Batch(at.Snapshot.Driver).JobOf(h.Server(), s.ID)
		at.Snapshot = at.Snapshot.Without(id)
		at.Tester = nil
	}
}
