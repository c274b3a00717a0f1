package sim

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// worker simulates the worker process on a node of an allocation. It sends the same messages, and no
// message is lost.
type worker struct {
	g             *grant
	id            job.NodeID
	node          int // index of the node in the cluster
	dead          bool
	runs          []*attempt
	known         map[job.ID]*outputs
	rentedMachine *rentedMachine // the rented machine, or nil
}

// outputs is the set of a job's map outputs that a worker knows.
type outputs struct {
	count int
	have  []uint64 // a bit for each map
	nodes []int    // if phases contend: the cluster's nodes that have the outputs, in the order in which they became known
}

func newWorker(g *grant, rank, node int) *worker {
	return &worker{g: g, id: g.id.Node(rank), node: node, known: make(map[job.ID]*outputs)}
}

func (k *worker) host() string {
	if k.rentedMachine != nil {
		return k.rentedMachine.name
	}
	return k.g.site.w.machine.shown[k.node].Name
}

// capacity returns the resources that the worker's attempts share.
func (k *worker) capacity() job.Resources {
	if k.rentedMachine != nil {
		return k.rentedMachine.capacity()
	}
	return k.g.site.w.machine.capacity(k.node)
}

// outputs returns the folder of the worker's map outputs. It is on a file system that all nodes
// share, which is berth's default on Slurm, so that the outputs outlive the allocation.
func (k *worker) outputs() string { return "/shared/" + string(k.id) }

// send sends an input to the coordinator.
func (k *worker) send(in step.Input) { k.g.site.send(in) }

// die ends the worker and its attempts. The attempts do not report their ends.
func (k *worker) die() {
	k.dead = true
	for _, r := range k.runs {
		r.lose()
		r.stop()
	}
	k.runs = nil
}

// lose counts what the attempt has computed as lost.
func (r *attempt) lose() {
	if r.step == computing || r.step == committing {
		r.app.out.LostWork += float64(r.app.cores(r.id.Task)) * min(r.k.g.site.w.now.Sub(r.since), r.runTime).Seconds()
	}
}

// stop ends what the attempt does on its node.
func (r *attempt) stop() {
	if r.paced != nil && !r.over {
		r.paced.ended(r)
	}
	r.over = true
	if r.phased != nil {
		r.phased.stop()
	}
	r.moves.stop()
}

func (k *worker) find(id job.Attempt) *attempt {
	for _, r := range k.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

// end ends an attempt and reports its outcome to the coordinator.
func (k *worker) end(r *attempt, e event.AttemptEnded) {
	if e.Outcome != event.Done {
		r.lose()
	}
	r.stop()
	for i, q := range k.runs {
		if q == r {
			k.runs[i] = k.runs[len(k.runs)-1]
			k.runs[len(k.runs)-1] = nil
			k.runs = k.runs[:len(k.runs)-1]
			break
		}
	}
	e.Attempt, e.Stats = r.id, r.stats
	k.send(step.AttemptEnded{AttemptEnded: e})
}

func (k *worker) kill(a step.Kill) {
	if r := k.find(a.Attempt); r != nil {
		r.killed()
		k.end(r, event.AttemptEnded{Outcome: event.Killed, Reason: a.Reason})
	}
}

func (k *worker) leave(a step.Grant) {
	switch r := k.find(a.Attempt); {
	case r == nil:
	case r.phased != nil:
		r.phased.granted(a.Phase, a.Memory)
	case r.step == asking:
		r.compute()
	}
}

func (k *worker) commit(a step.Commit) {
	if r := k.find(a.Attempt); r != nil {
		k.end(r, event.AttemptEnded{Outcome: event.Done})
	}
}

// locate records the location of a map output. When all are known, the reduces fetch the rest.
func (k *worker) locate(a *app, l step.Locate) {
	o := k.outputsOf(a)
	bit := uint64(1) << (l.Attempt.Task % 64)
	if word := &o.have[l.Attempt.Task/64]; *word&bit == 0 {
		*word |= bit
		o.count++
		if a.Phased != nil {
			k.located(a, o, l.Holder)
			return
		}
	}
	if o.count < len(a.Maps) {
		return
	}
	for _, r := range k.runs {
		if r.app == a {
			r.fetch()
		}
	}
}

// located records which node has a map output, and continues the shuffles that wait for it.
func (k *worker) located(a *app, o *outputs, holder job.NodeID) {
	o.nodes = append(o.nodes, a.coordinator.workers[holder].node)
	for _, r := range k.runs {
		if r.app == a && r.kind == job.ReduceTask && r.phased.phases[r.phased.at] == job.PhaseShuffle {
			r.phased.pull()
		}
	}
}

// outputsOf returns what the worker knows of a job's map outputs.
func (k *worker) outputsOf(a *app) *outputs {
	o := k.known[a.id]
	if o == nil {
		o = &outputs{have: make([]uint64, (len(a.Maps)+63)/64)}
		k.known[a.id] = o
	}
	return o
}
