package sim

import (
	"berth/internal/workload"
)

// rigid is a rigid job: it is submitted as it is, runs on all its nodes at once and is
// killed at its limit.
type rigid struct {
	w     *world
	job   *workload.Rigid
	out   *Outcome
	alloc *allocation
	runs  int // how often it began
}

// rigidEnd is the end of a run of a rigid job, by itself or at its limit.
type rigidEnd struct {
	r   *rigid
	run int // which; one that a node failed under has ended before
}

func (r *rigid) submit() {
	r.alloc = r.w.submit(r, false, r.job.Nodes, r.job.Request)
}

func (r *rigid) began(a *allocation) {
	if r.runs++; r.runs == 1 {
		r.out.Start = since(r.w.now)
	}
	r.w.agenda.note(r.w.now.Add(min(r.job.Run, r.job.Request)), endRank, rigidEnd{r, r.runs})
}

// broke puts the job back into the queue, behind all others: it begins anew.
func (r *rigid) broke(a *allocation, _ int) {
	r.w.release(a)
	r.submit()
}

func (e rigidEnd) happen() {
	r := e.r
	if e.run != r.runs || r.alloc.state != running {
		return
	}
	r.w.release(r.alloc)
	r.out.Finish, r.out.Killed = since(r.w.now), r.job.Run > r.job.Request
	r.w.left--
}
