package engine

// elastic tells of the allocations of an elastic pool, and of plans for more.
func (x *explanation) elastic(p *pool) {
	class, ready := x.j.waits.next()
	for _, a := range p.allocs {
		var pr prospect
		pr.ask(a, x.j, class, x.now)
		switch {
		case !a.up() && pr.ok && (a.job == x.j.work.ID || !p.anyUp()):
			r := Reason{Kind: AllocWaits, Alloc: a.id, Request: &a.req, Since: x.since(a.requested), Text: a.note}
			if st := x.e.allocStatus(a); st.Start > x.now {
				r.Left = x.until(st.Start)
			}
			x.add(r)
		case a.up() && a.joined == 0:
			x.add(Reason{Kind: NoNodeYet, Alloc: a.id, Since: x.since(a.since())})
		case a.up() && a.Ends != 0:
			r := Reason{Kind: AllocEnds, Alloc: a.id, Left: x.until(a.Ends)}
			if x.e.cfg.Yield && a.job != x.j.work.ID && !x.e.jobs[a.job].over() {
				r.Jobs = append(r.Jobs, a.job)
			}
			x.add(r)
		}
	}
	if ready {
		x.plan()
	}
}

// plan tells of plans for what no allocation serves.
func (x *explanation) plan() {
	pr, plan, barren := x.e.served(x.j), &x.j.plan, &x.j.barren
	switch {
	case plan.onWay:
		x.add(Reason{Kind: PlanPending, Text: plan.reason})
	case plan.failed != "":
		x.add(Reason{Kind: PlanFailed, Left: x.until(plan.retry), Text: plan.failed})
	case !pr.ok && barren.n >= x.e.cfg.MaxBarren:
		x.add(Reason{Kind: PlanNever, Count: barren.n, Text: barren.last})
	case !pr.ok && barren.n > 1:
		x.add(Reason{Kind: PlanLater, Left: x.until(x.e.planAfter(x.j, pr)), Count: barren.n, Text: barren.last})
	}
}
