package sim

import "berth/internal/core/job"

// scheduleArrivals schedules the arrivals of all jobs.
func (w *World) scheduleArrivals() {
	rigids, elastics := w.cfg.Rigid, w.cfg.Elastic
	w.oneByOne(len(rigids), rigidRank, func(i int) job.Time { return rigids[i].Submit }, func(i int) {
		j, out := &rigids[i], &w.result.Rigid[i]
		*out = Outcome{Submit: j.Submit, Nodes: j.Nodes}
		(&rigid{w: w, job: j, out: out}).submit()
	})
	w.oneByOne(len(elastics), arrivalRank, func(i int) job.Time { return elastics[i].Submit }, func(i int) {
		app := w.apps[i]
		if before := w.before(app); before != nil && !before.over {
			before.then = append(before.then, app)
			return
		}
		app.arrive()
	})
}

// oneByOne calls arrive for each of n jobs when it is submitted. Only the next of them is on the agenda.
func (w *World) oneByOne(n int, r rank, submit func(int) job.Time, arrive func(int)) {
	i := 0
	var fire func()
	schedule := func() {
		if i < n {
			w.agenda.schedule(Epoch+submit(i), r, fire)
		}
	}
	fire = func() {
		i++
		schedule()
		arrive(i - 1)
	}
	schedule()
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
