package sim

import (
	"berth/internal/simulate/workload"
)

// rigid is a rigid job. It is submitted unchanged, runs on all its nodes at once, and is killed at
// its wall time.
type rigid struct {
	w     *World
	job   *workload.Rigid
	out   *Outcome
	alloc *allocation
	runs  int // number of times it has begun
}

func (r *rigid) submit() {
	r.alloc = r.w.submit(r, r.w.queues[r.job.Partition], "", r.job.Nodes, r.job.Request)
}

func (r *rigid) began() {
	if r.runs++; r.runs == 1 {
		r.out.Start = since(r.w.now)
	}
	run := r.runs
	r.w.At(r.w.now.Add(min(r.job.Run, r.job.Request)), func() { r.end(run) })
}

// nodeFailed puts the job back at the end of the queue. It will run again from the beginning.
func (r *rigid) nodeFailed(int) {
	r.w.release(r.alloc)
	r.submit()
}

// end ends a run of the job, by itself or at its wall time. A run that lost a node has ended before.
func (r *rigid) end(run int) {
	if run != r.runs || r.alloc.state != running {
		return
	}
	r.w.release(r.alloc)
	r.out.Finish, r.out.Killed = since(r.w.now), r.job.Run > r.job.Request
	r.w.left--
}
