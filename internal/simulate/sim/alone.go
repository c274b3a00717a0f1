package sim

import (
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/simulate/workload"
)

// Alone is a job whose only allocation begins, for Adaptor.Shortcut.
type Alone struct {
	Config       *Config
	Job          *workload.Elastic
	Spec         *job.Spec
	Plan         *plan.Plan
	Slots        int
	Begins, Ends job.Time // when its workers are up, and the end of its wall time
}

// shortcut ends a job on an allocation that has begun when Adaptor.Shortcut says so, and reports whether that says it.
func (c *coordinator) shortcut(g *grant) bool {
	w := c.w
	if w.cfg.Adaptor.Shortcut == nil || !c.own {
		return false
	}
	for _, a := range c.apps { // there is only one
		begins := w.now.Add(w.cfg.Cluster.StartUp)
		if a.out.Allocs != 1 || a.started {
			return false
		}
		finish, ok := w.cfg.Adaptor.Shortcut(Alone{w.cfg, a.Elastic, a.spec, &a.first, g.alloc.nodes * w.machine.size.CPUs, begins, g.alloc.ends()})
		if !ok {
			return false
		}
		a.started, a.out.Start = true, since(begins)
		c.closed = true // the engine receives no further inputs
		w.At(finish, func() {
			w.result.Busy += a.Work()
			a.end(false)
			c.releaseAll()
		})
	}
	return true
}
