package rundir

import (
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/driver/registry"
	"berth/internal/sys/statedir"
)

// use adds the user's allocations to the planning of a job. Idle ones that serve the job count as present. The other idle ones are given back
// when the job makes its own requests, so they are removed from the snapshot, as are those that were given back; the batch system would still
// count them, and is not asked to check requests. Those with work count until they are expected to be given back.
func (at *backend) use(h statedir.Home, spec *job.Spec, held func() []job.Live) {
	if at.Snapshot.Queue == nil {
		return
	}
	for _, s := range held() {
		serves := !s.Over && plan.Serves(&at.Snapshot, spec, s.Request)
		if serves && !s.Busy {
			at.idle = append(at.idle, s)
			continue
		}
		if serves && s.Next != 0 {
			at.beside = append(at.beside, s)
		}
		id := registry.Batch(at.Snapshot.Driver).JobOf(h.Server(), s.ID)
		if s.Busy {
			if s.Free != 0 {
				at.Snapshot = at.Snapshot.GivenBack(id, s.Free)
			}
			continue
		}
		if without := at.Snapshot.Without(id); len(without.Queue.Running) < len(at.Snapshot.Queue.Running) {
			at.Snapshot, at.Tester = without, nil
		}
	}
}
