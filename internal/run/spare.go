package run

import (
	"path/filepath"

	"berth/internal/driver/batch"
	"berth/internal/driver/slurm"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan"
)

// use has a job planned with the user's allocations that wait for work. Those that would
// serve it are there at once. The others are given back when it asks for its own, so the
// queue is looked at without them; Slurm itself would still reckon with them, and is not asked.
func (at *place) use(h home.Home, spec *job.Spec, spare []job.Live) {
	if at.snap.Queue == nil {
		return
	}
	for _, s := range spare {
		if plan.Serves(&at.snap, spec, s.Request) {
			at.idle = append(at.idle, s)
			continue
		}
		id := batch.JobOf(slurm.Open(nil), filepath.Join(h.Server(), slurm.Name), s.ID)
		at.snap = at.snap.Without(id)
		at.tester = nil
	}
}
