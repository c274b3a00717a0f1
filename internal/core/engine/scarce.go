package engine

import (
	"fmt"

	"berth/internal/core/explain"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// Limits returns how much may be used of what jobs share, and is, by name.
func (e *Engine) Limits() []job.Limit {
	all := job.LimitsOf(e.cfg.Limits)
	for i := range all {
		l := &all[i]
		l.Used = e.scarce.Used(l.Name)
		for _, j := range e.line {
			for _, t := range j.of {
				if j.active() && t.needs.Uses.Of(l.Name) > 0 {
					l.Tasks += t.left() - t.running
				}
			}
		}
	}
	return all
}

// LimitsByName returns the limits.
func (e *Engine) LimitsByName() map[string]int { return e.cfg.Limits }

// SetLimits replaces the limits, also between the replay and Recover. What runs above a lower one goes on.
func (e *Engine) SetLimits(limits map[string]int) {
	e.cfg.Limits = limits
	e.scarce.SetLimits(limits)
	e.scarceChanged()
}

// setLimits replaces the limits. None is removed that jobs which are not over need.
func (e *Engine) setLimits(in step.SetLimits) error {
	for _, j := range e.line {
		for _, t := range j.of {
			for name := range t.needs.Uses.All() {
				_, had := e.cfg.Limits[name]
				if _, ok := in.Limits[name]; had && !ok && !j.state.Final() {
					return job.ArgumentError(name, fmt.Sprintf("%s is not over and uses it", j.ID), "cancel the job first, or set another limit")
				}
			}
		}
	}
	e.SetLimits(in.Limits)
	return nil
}

// checkUses returns an error if a task of the job could never have what it uses.
func (e *Engine) checkUses(id job.ID, n job.Needs) error {
	for name, amount := range n.Uses.All() {
		switch limit, known := e.scarce.Limit(name); {
		case !known:
			return step.UserError(id, fmt.Sprintf("its tasks use %s, which has no limit", name), fmt.Sprintf("say how much all of your tasks together may use: berth limit %s=N", name))
		case amount > limit:
			return step.UserError(id, fmt.Sprintf("a task uses %s=%d, and the limit is %d", name, amount, limit), fmt.Sprintf("use less, or raise it: berth limit %s=%d", name, amount))
		}
	}
	return nil
}

// checkAllUses checks the needs of all tasks of a job.
func (e *Engine) checkAllUses(w *job.Work) error {
	for k := range w.NeedsCount() {
		if err := e.checkUses(w.ID, w.NeedsAt(k)); err != nil {
			return err
		}
	}
	return nil
}

// scarceChanged has the pools scheduled whose tasks use something that all share, as what is free of it has changed.
func (e *Engine) scarceChanged() {
	for _, p := range e.pools {
		if p.UsesScarce() {
			e.markPool(p)
		}
	}
}

// scarceMoved does the same if something is reserved, as another candidate may come first now.
func (e *Engine) scarceMoved() {
	if e.scarce.Reserves() {
		e.scarceChanged()
	}
}

// scarce adds for what of all jobs the candidate waits, and reports whether it does.
func (x *explanation) scarce(c *sched.Candidate) bool {
	name, reserved := x.e.scarce.Short(c)
	if name == "" || c.Group() == nil {
		return false
	}
	limit, _ := x.e.scarce.Limit(name)
	x.add("%s for %s=%s each: %s of %s are in use%s", waiting(c), name, c.Uses.Of(name), x.e.scarce.Used(name), limit,
		explain.If(", and what is free is reserved for a task that comes first", reserved))
	return true
}
