package run

import (
	"cmp"
	"path/filepath"

	"berth/internal/driver/batch"
	"berth/internal/driver/slurm"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/replan"
)

// Spare is an allocation that waits for work.
type Spare struct {
	ID job.AllocID
	plan.Live
}

// use has a job planned with the user's allocations that wait for work. Those that would
// serve it are there at once. The others are given back when it asks for its own, so the
// queue is looked at without them; Slurm itself would still reckon with them, and is not asked.
func (at *place) use(h home.Home, spec *job.Spec, spare []Spare) {
	if at.snap.Queue == nil {
		return
	}
	for _, s := range spare {
		if at.serves(spec, s.Request) {
			at.idle = append(at.idle, s.Live)
			continue
		}
		id := batch.JobOf(slurm.Open(nil), filepath.Join(h.Server(), slurm.Name), s.ID)
		at.snap = at.snap.Without(id)
		at.tester = nil
	}
}

// serves reports whether an allocation would serve the job.
func (at *place) serves(spec *job.Spec, req job.AllocRequest) bool {
	r := &spec.Request
	return replan.Serves(r, at.snap.Driver, at.snap.Queue.ID, cmp.Or(r.Partition, at.defaultPartition()), req)
}

// defaultPartition returns the name of the partition of jobs that name none; "" without one.
func (at *place) defaultPartition() string {
	for _, p := range at.snap.Queue.Partitions {
		if p.Default {
			return p.Name
		}
	}
	return ""
}
