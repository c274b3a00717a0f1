package enginetest

import "berth/internal/engine"

// performer carries out the actions of the world's engine: what goes to workers and drivers is on
// its way, and arrives when the chooser says so.
type performer struct{ *World }

func (w performer) Start(a engine.Start) { w.tell(a.Node, func(k *worker) { k.start(a) }) }
func (w performer) Kill(a engine.Kill)   { w.tell(a.Node, func(k *worker) { k.kill(a.Attempt) }) }

func (w performer) Leave(a engine.Leave) {
	w.tell(a.Node, func(k *worker) { k.grant(a.Attempt, func(r *run) { r.leave = max(r.leave, a.Phase) }) })
}

func (w performer) Commit(a engine.Commit) {
	w.tell(a.Node, func(k *worker) { k.grant(a.Attempt, func(r *run) { r.commit = true }) })
}

func (w performer) Locate(a engine.Locate) { w.tell(a.Node, func(k *worker) { k.locate(a) }) }

func (w performer) Forget(a engine.Forget) {
	if s, ok := w.Engine.Job(a.Job); ok && !s.State.Final() {
		w.fail("%s is to be forgotten, but is %s", a.Job, s.State)
	}
	w.tell(a.Node, func(k *worker) { k.forget(a.Job) })
}

func (w performer) Request(a engine.Request) { w.request(a.Alloc, a.Request) }
func (w performer) Release(a engine.Release) { w.release(a.Alloc) }
func (w performer) Plan(a engine.Plan)       { w.planWanted(a) }
func (w performer) Clear(a engine.Clear)     { w.clear(a.Alloc) }

func (w performer) Finalize(a engine.Finalize) {
	w.checkDone(a.Job)
	w.finalize = append(w.finalize, a.Job)
}
