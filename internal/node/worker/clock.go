package worker

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// leastApart is by how much this machine's time must differ from the coordinator's for that to matter. Less is how well
// the clocks of machines agree, and how long a message takes.
const leastApart = 2 * time.Second

// follow stamps attempts that start from now on by the coordinator's time, as reports compare its records with the phases
// of all workers. The two differ where the wall clock was set between their starts, and on a machine with a wrong clock.
func (w *worker) follow(coordinator job.Time) {
	by := coordinator.Sub(probe.Now())
	if by.Abs() < leastApart {
		by = 0
	}
	w.ahead.Store(int64(by))
}

// now returns the time by which the attempt is stamped, which goes on evenly from its start to its end.
func (a *attempt) now() job.Time { return probe.Now().Add(a.ahead) }
