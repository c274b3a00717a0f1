package sim

// arrivals is the next job to arrive of each kind. What arrives at one instant does so in
// the order of the Config, rigid jobs first.
type arrivals struct {
	w              *world
	rigid, elastic int // how many of each have arrived
}

// arrive notes the first arrivals.
func (w *world) arrive() {
	a := &arrivals{w: w}
	w.agendaArrival(a)
}

// agendaArrival notes the next arrival.
func (w *world) agendaArrival(a *arrivals) {
	r, e := w.cfg.Rigid[a.rigid:], w.cfg.Elastic[a.elastic:]
	switch {
	case len(r) > 0 && (len(e) == 0 || r[0].Submit <= e[0].Submit):
		w.agenda.note(epoch+r[0].Submit, arrivalRank, rigidArrival{a})
	case len(e) > 0:
		w.agenda.note(epoch+e[0].Submit, arrivalRank, elasticArrival{a})
	}
}

type rigidArrival struct{ *arrivals }

func (a rigidArrival) happen() {
	w, i := a.w, a.rigid
	a.rigid++
	w.agendaArrival(a.arrivals)
	j := &w.cfg.Rigid[i]
	out := &w.result.Rigid[i]
	*out = Outcome{Submit: j.Submit, Nodes: j.Nodes}
	(&rigid{w: w, job: j, out: out}).submit()
}

type elasticArrival struct{ *arrivals }

func (a elasticArrival) happen() {
	w, i := a.w, a.elastic
	a.elastic++
	w.agendaArrival(a.arrivals)
	w.apps[i].arrive()
}
