package sim

// arrivals is the jobs that have not arrived. What arrives at one instant does so in the order of
// the Config, rigid jobs first.
type arrivals struct {
	w              *world
	rigid, elastic int // how many of each have arrived
}

// arrive notes the first arrival.
func (w *world) arrive() { (&arrivals{w: w}).note() }

// rigidFirst reports whether the next job to arrive is a rigid one.
func (a *arrivals) rigidFirst() bool {
	r, e := a.w.cfg.Rigid[a.rigid:], a.w.cfg.Elastic[a.elastic:]
	return len(r) > 0 && (len(e) == 0 || r[0].Submit <= e[0].Submit)
}

// note notes the next arrival.
func (a *arrivals) note() {
	switch cfg := a.w.cfg; {
	case a.rigidFirst():
		a.w.agenda.note(epoch+cfg.Rigid[a.rigid].Submit, arrivalRank, a)
	case a.elastic < len(cfg.Elastic):
		a.w.agenda.note(epoch+cfg.Elastic[a.elastic].Submit, arrivalRank, a)
	}
}

// happen lets the next job arrive.
func (a *arrivals) happen() {
	w := a.w
	if i := a.rigid; a.rigidFirst() {
		a.rigid++
		a.note()
		j, out := &w.cfg.Rigid[i], &w.result.Rigid[i]
		*out = Outcome{Submit: j.Submit, Nodes: j.Nodes}
		(&rigid{w: w, job: j, out: out}).submit()
		return
	}
	a.elastic++
	a.note()
	app := w.apps[a.elastic-1]
	if before := w.before(app); before != nil && !before.over {
		before.then = append(before.then, app)
		return
	}
	app.arrive()
}

// before returns the job that has to be over before one is submitted; nil: none.
func (w *world) before(a *app) *app {
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
