package engine

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// startBy returns when the job is given up if no allocation has begun for it (job.Request.StartWithin); 0: never.
func (j *jobState) startBy() job.Time {
	if j.work.StartWithin == 0 || j.begun || j.pool == nil || j.pool.shape.Endless() || !j.active() {
		return 0
	}
	return j.Released.Add(j.work.StartWithin)
}

// giveUpWaiting ends the jobs of a pool that have waited for as long as they may. Their requests are given back, as they need none.
func (e *Engine) giveUpWaiting(p *pool) {
	var overdue []*jobState // jobs that end leave p.active
	for _, j := range p.active {
		if at := j.startBy(); at != 0 && e.now >= at {
			overdue = append(overdue, j)
		}
	}
	for _, j := range overdue {
		if j.startBy() != 0 { // it may have ended with another one
			e.stopJob(j, event.StateFailed, job.CodeNotStarted, fmt.Sprintf("did not start within %s; nothing ran", job.FormatDuration(j.work.StartWithin)))
		}
	}
}
