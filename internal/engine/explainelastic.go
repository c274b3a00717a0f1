package engine

import (
	"fmt"
	"time"

	"berth/internal/job"
)

// elastic tells of the allocations of an elastic pool, and of plans for more.
func (x *explanation) elastic(p *pool) {
	class, ready := x.j.waits.next()
	for _, a := range p.allocs {
		var pr prospect
		pr.ask(a, x.j, class, x.now)
		switch {
		case !a.up() && pr.ok && (a.job == x.j.work.ID || !p.anyUp()):
			x.waiting(a)
		case a.up() && a.joined == 0:
			x.say("allocation %s began %s ago; none of its nodes has come up yet", a.id, job.FormatDuration(x.since(a.since())))
		case a.up() && a.deadline() != 0:
			x.say("allocation %s ends in %s%s", a.id, x.left(a), x.lent(a))
		}
	}
	if !ready {
		return
	}
	pr, plan := x.e.served(x.j), &x.j.plan
	switch {
	case plan.onWay:
		x.say("what is left is being planned: %s", plan.reason)
	case plan.failed != "":
		x.say("what is left could not be planned, it is tried again in %s: %s", x.until(plan.retry), plan.failed)
	case !pr.ok && x.j.barren.n >= x.e.cfg.MaxBarren:
		x.say("nothing more is asked for until one of those that run is done: the last %d allocations ended without any task done (%s)",
			x.j.barren.n, x.j.barren.last)
	case !pr.ok && x.j.barren.n > 1:
		x.say("what is left is planned in %s: the last %d allocations ended without any task done (%s)",
			x.until(x.e.planAfter(x.j, pr)), x.j.barren.n, x.j.barren.last)
	}
}

// lent tells of an allocation that another job asked for that it may end with that job.
func (x *explanation) lent(a *alloc) string {
	if !x.e.cfg.Yield || a.job == x.j.work.ID || x.e.jobs[a.job].over() {
		return ""
	}
	return fmt.Sprintf("; it may be given back once %s, which asked for it, is done", a.job)
}

// waiting tells of an allocation that has yet to begin.
func (x *explanation) waiting(a *alloc) {
	s := fmt.Sprintf("it waits for allocation %s: %s with %s each", a.id, number(a.req.Nodes, "node"), describe(a.req.PerNode))
	if a.req.Time > 0 {
		s += fmt.Sprintf(" for %s", job.FormatDuration(a.req.Time))
	}
	s += fmt.Sprintf(", asked of %s %s ago", a.req.On, job.FormatDuration(x.since(a.requested)))
	if a.note != "" {
		s += "; " + a.note
	}
	if st := x.e.allocStatus(a); st.Start > x.now {
		s += fmt.Sprintf("; expected in %s", x.until(st.Start))
	}
	x.say("%s", s)
}

// until returns the time until then, as text.
func (x *explanation) until(t job.Time) string {
	return job.FormatDuration(max(0, t.Sub(x.now)).Round(time.Second))
}

// left returns the time that an allocation has left.
func (x *explanation) left(a *alloc) string { return x.until(a.deadline()) }
