package engine

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// measureStartUp notes that an allocation has begun or that its first node is up, and
// measures the start-up once both have happened.
func (p *pool) measureStartUp(a *alloc) {
	if !a.measured && a.begun && a.joined > 0 {
		a.measured = true
		p.startUp.Measure(a.lasted(a.first))
	}
}

// lasted returns how much of its wall time an allocation that has begun had used at the time by.
func (a *alloc) lasted(by job.Time) time.Duration {
	return sched.Lasted(a.req, a.began, a.Ends, by)
}
