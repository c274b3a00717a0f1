package sim

import (
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/step"
)

// worker is what runs attempts on a node of an allocation. It says what a worker process
// says, and nothing gets lost on the way.
type worker struct {
	g     *grant
	id    job.NodeID
	node  int // of the cluster
	dead  bool
	runs  []*attempt
	known map[job.ID]*outputs
	hired *hired // the machine, where it is rented; else nil
}

// outputs is which map outputs of a job a worker was told of.
type outputs struct {
	count   int
	have    []uint64 // a bit for each map
	holders []int    // the cluster's nodes that have them, in the order in which they became known; where phases contend
}

func newWorker(g *grant, rank, node int) *worker {
	return &worker{g: g, id: g.id.Node(rank), node: node, known: make(map[job.ID]*outputs)}
}

func (k *worker) host() string {
	if k.hired != nil {
		return k.hired.name
	}
	return k.g.site.w.machine.shown[k.node].Name
}

// capacity is what attempts there share.
func (k *worker) capacity() job.Resources {
	if k.hired != nil {
		return k.hired.capacity()
	}
	return k.g.site.w.machine.capacity(k.node)
}

// outputs is the folder of its map outputs: on a file system that all nodes share, as berth
// has it on Slurm by default, so that they outlive the allocation.
func (k *worker) outputs() string { return "/shared/" + string(k.id) }

// say tells the coordinator something.
func (k *worker) say(in step.Input) { k.g.site.say(in) }

// die ends the worker and all that it runs; nobody tells how that ended.
func (k *worker) die() {
	k.dead = true
	for _, r := range k.runs {
		r.stop()
	}
	k.runs = nil
}

// stop has an attempt do no more.
func (r *attempt) stop() {
	if r.paced != nil && !r.over {
		r.paced.leave(r)
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

// end ends an attempt and tells the coordinator how.
func (k *worker) end(r *attempt, e event.AttemptEnded) {
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
	k.say(step.AttemptEnded{AttemptEnded: e})
}

func (k *worker) kill(a step.Kill) {
	if r := k.find(a.Attempt); r != nil {
		r.lose()
		k.end(r, event.AttemptEnded{Outcome: event.Killed, Reason: a.Reason})
	}
}

func (k *worker) leave(a step.Leave) {
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

// locate takes in where a map output is. When all are known, reduces fetch the rest.
func (k *worker) locate(a *app, l step.Locate) {
	o := k.of(a)
	bit := uint64(1) << (l.Attempt.Task % 64)
	if word := &o.have[l.Attempt.Task/64]; *word&bit == 0 {
		*word |= bit
		o.count++
		if a.Phased != nil {
			k.placed(a, o, l.Holder)
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

// placed takes in which node has a map output. Shuffles go on that wait for it.
func (k *worker) placed(a *app, o *outputs, holder job.NodeID) {
	o.holders = append(o.holders, a.coordinator.workers[holder].node)
	for _, r := range k.runs {
		if r.app == a && r.kind == job.ReduceTask && r.phased.phases[r.phased.at] == job.PhaseShuffle {
			r.phased.pull()
		}
	}
}

// of returns what is known of a job's map outputs.
func (k *worker) of(a *app) *outputs {
	o := k.known[a.id]
	if o == nil {
		o = &outputs{have: make([]uint64, (len(a.Maps)+63)/64)}
		k.known[a.id] = o
	}
	return o
}
