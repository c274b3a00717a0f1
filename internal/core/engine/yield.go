package engine

import (
	"math"
	"slices"

	"berth/internal/core/job"
)

// retire decides which of the pool's allocations are to be given back although others
// could continue to use them, for Config.Yield. They take no new tasks, and end with
// their last attempts.
//
// An allocation stays while a job that is not over has none of its own, as that job
// was planned to run on the present ones, unless the allocation is courteous. If it gets one later, the
// allocation stays until a node of that is up. It also
// stays while one is not over whose plan counts on it, and as long as maps would have to run again without it.
func (e *Engine) retire(p *pool) {
	if !e.cfg.Yield {
		return
	}
	since := e.ownSince(p)
	for _, a := range p.allocs {
		ended := job.Time(0)
		if j := e.jobs[a.job]; j != nil {
			ended = j.ended
		}
		yield := len(p.active) > 0 && (a.req.Courteous || since <= ended)
		retired := yield && a.job != "" && e.jobs[a.job].isOver() && !slices.ContainsFunc(p.active, a.counted) && !e.keepsOutputs(a)
		if a.Retired != retired {
			a.Retired = retired
			e.changed(p)
		}
	}
}

// never is later than any time.
const never = job.Time(math.MaxInt64)

// ownSince returns since when all jobs of the pool that are not over have had an allocation of their own: since a request that waits was
// made, and for any time once a node is up. One that has begun without a node does not count, as its nodes may not come up.
func (e *Engine) ownSince(p *pool) (latest job.Time) {
	e.round++
	for _, a := range p.allocs {
		j := e.jobs[a.job]
		if j == nil || a.begun && a.joined == 0 {
			continue
		}
		since := a.requested
		if a.joined > 0 {
			since = 0
		}
		if j.round != e.round || since < j.ownSince {
			j.round, j.ownSince = e.round, since
		}
	}
	for _, j := range p.active {
		switch {
		case !j.active():
		case j.round != e.round:
			return never
		default:
			latest = max(latest, j.ownSince)
		}
	}
	return latest
}

// counted reports whether the first plan of the job counts on the allocation, which was idle.
func (a *alloc) counted(j *jobState) bool { return slices.Contains(j.work.Idle, a.id) }

// isOver reports whether the job has ended, or is no longer known.
func (j *jobState) isOver() bool { return j == nil || j.state.Final() || j.isResting() }
