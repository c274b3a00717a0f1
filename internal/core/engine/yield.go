package engine

import "slices"

// retire decides which of the pool's allocations are to be given back although others
// could continue to use them, for Config.Yield. They take no new tasks, and end with
// their last attempts.
//
// An allocation stays while a job that is not over has none of its own, as that job
// was planned to run on the present ones, unless the allocation is courteous. It also
// stays while one is not over whose plan counts on it, and as long as maps would have to run again without it.
func (e *Engine) retire(p *pool) {
	if !e.cfg.Yield {
		return
	}
	relied := e.reliesOnOthers(p)
	for _, a := range p.allocs {
		yield := len(p.active) > 0 && (a.req.Courteous || !relied)
		retired := yield && a.job != "" && e.jobs[a.job].over() && !slices.ContainsFunc(p.active, a.counted) && !e.keepsOutputs(a)
		if a.Retired != retired {
			a.Retired = retired
			e.changed(p)
		}
	}
}

// reliesOnOthers reports whether a job of the pool that is not over has no allocation of
// its own.
func (e *Engine) reliesOnOthers(p *pool) bool {
	e.round++
	for _, a := range p.allocs {
		if j := e.jobs[a.job]; j != nil {
			j.round = e.round
		}
	}
	for _, j := range p.active {
		if j.active() && j.round != e.round {
			return true
		}
	}
	return false
}

// counted reports whether the first plan of the job counts on the allocation, which was idle.
func (a *alloc) counted(j *jobState) bool { return slices.Contains(j.work.Idle, a.id) }

// over reports whether the job has ended, or is no longer known.
func (j *jobState) over() bool { return j == nil || j.state.Final() || j.rests() }
