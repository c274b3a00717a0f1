package sim

// arrivals iterates over the jobs that have not arrived. Jobs with the same submission time arrive
// in the order of the Config, rigid jobs first.
type arrivals struct {
	w              *World
	rigid, elastic int // how many of each have arrived
}

// scheduleArrivals schedules the first arrival.
func (w *World) scheduleArrivals() { (&arrivals{w: w}).schedule() }

// rigidFirst reports whether the next job to arrive is a rigid job.
func (a *arrivals) rigidFirst() bool {
	r, e := a.w.cfg.Rigid[a.rigid:], a.w.cfg.Elastic[a.elastic:]
	return len(r) > 0 && (len(e) == 0 || r[0].Submit <= e[0].Submit)
}

// schedule schedules the next arrival.
func (a *arrivals) schedule() {
	switch cfg := a.w.cfg; {
	case a.rigidFirst():
		a.w.agenda.schedule(Epoch+cfg.Rigid[a.rigid].Submit, arrivalRank, a.fire)
	case a.elastic < len(cfg.Elastic):
		a.w.agenda.schedule(Epoch+cfg.Elastic[a.elastic].Submit, arrivalRank, a.fire)
	}
}

// fire makes the next job arrive and schedules the arrival after it.
func (a *arrivals) fire() {
	w := a.w
	if i := a.rigid; a.rigidFirst() {
		a.rigid++
		a.schedule()
		j, out := &w.cfg.Rigid[i], &w.result.Rigid[i]
		*out = Outcome{Submit: j.Submit, Nodes: j.Nodes}
		(&rigid{w: w, job: j, out: out}).submit()
		return
	}
	a.elastic++
	a.schedule()
	app := w.apps[a.elastic-1]
	if before := w.before(app); before != nil && !before.over {
		before.then = append(before.then, app)
		return
	}
	app.arrive()
}

// before returns the job that has to end before job a is submitted, or nil.
func (w *World) before(a *app) *app {
	if a.After == 0 {
		return nil
	}
	for _, b := range w.apps[:a.index] {
		if b.ID == a.After {
			return b
		}
	}
	return nil
}
