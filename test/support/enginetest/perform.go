package enginetest

import "berth/internal/core/step"

// performer carries out the actions of the world's engine: messages to workers and drivers are
// in transit, and arrive when the chooser decides so.
type performer struct{ *World }

func (w performer) Start(a step.Start) { w.tell(a.Node, func(k *worker) { k.start(a) }) }
func (w performer) Kill(a step.Kill)   { w.tell(a.Node, func(k *worker) { k.kill(a) }) }
func (w performer) Join(a step.Join)   { w.tell(a.Node, func(k *worker) { k.joinGang(a) }) }
func (w performer) Leave(a step.Leave) { w.tell(a.Node, func(k *worker) { k.leaveGang(a.Attempt) }) }
func (w performer) Ask(a step.Ask)     { w.tell(a.Node, func(k *worker) { k.ask(a) }) }

func (w performer) Grant(a step.Grant) {
	w.tell(a.Node, func(k *worker) { k.grant(a.Attempt, func(r *run) { r.through = max(r.through, a.Phase) }) })
}

func (w performer) Commit(a step.Commit) {
	w.tell(a.Node, func(k *worker) {
		k.grant(a.Attempt, func(r *run) { r.commit, r.told, r.except = true, true, a.Except })
	})
}

func (w performer) Locate(a step.Locate) { w.tell(a.Node, func(k *worker) { k.locate(a) }) }

func (w performer) Ends(a step.Ends) { w.tell(a.Node, func(k *worker) { k.ends = a.At }) }

func (w performer) Forget(a step.Forget) {
	if s, ok := w.Engine.Job(a.Job); ok && !s.State.Final() {
		w.fail("%s is to be forgotten, but is %s", a.Job, s.State)
	}
	w.tell(a.Node, func(k *worker) { k.forget(a.Job) })
}

func (w performer) Request(a step.Request) { w.request(a.Alloc, a.Request) }
func (w performer) Release(a step.Release) { w.release(a.Alloc) }
func (w performer) Plan(a step.Plan)       { w.planWanted(a) }
func (w performer) Clear(a step.Clear)     { w.clear(a.Alloc) }

func (w performer) Seek(step.Seek) {}

func (w performer) Finalize(a step.Finalize) {
	w.checkDone(a.Job)
	w.finalize = append(w.finalize, a.Job)
}
