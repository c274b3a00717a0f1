package sim

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// Worker simulates the worker process on a node of an allocation. It sends the same messages, and no
// message is lost.
type Worker struct {
	ID            job.NodeID
	Node          int        // index of the node in the cluster
	Runs          []*Attempt // nil once the worker has ended
	g             *grant
	dead          bool
	known         map[job.ID]*outputs
	rentedMachine *rentedMachine // the rented machine, or nil
}

// outputs is the set of a job's map outputs that a worker knows.
type outputs struct {
	count int
	have  sched.IndexSet // the maps
	nodes []int32
}

func newWorker(g *grant, rank, node int) *Worker {
	return &Worker{g: g, ID: g.id.Node(rank), Node: node, known: make(map[job.ID]*outputs)}
}

func (k *Worker) host() string {
	if k.rentedMachine != nil {
		return k.rentedMachine.name
	}
	return k.g.site.w.machine.shown[k.Node].Name
}

// capacity returns the resources that the worker's attempts share.
func (k *Worker) capacity() job.Resources {
	if k.rentedMachine != nil {
		return k.rentedMachine.capacity()
	}
	return k.g.site.w.machine.shown[k.Node].Capacity
}

// outputs returns the folder of the worker's map outputs. It is on a file system that all nodes
// share, which is berth's default on Slurm, so that the outputs outlive the allocation.
func (k *Worker) outputs() string { return "/shared/" + string(k.ID) }

// World returns the simulation.
func (k *Worker) World() *World { return k.g.site.w }

// Send sends an input to the coordinator.
func (k *Worker) Send(in step.Input) { k.g.site.send(in) }

// die ends the worker and its attempts. The attempts do not report their ends.
func (k *Worker) die() {
	k.dead = true
	for _, r := range k.Runs {
		r.stop(event.Lost)
	}
	k.Runs = nil
}

// end ends the attempt and reports its outcome to the coordinator.
func (r *Attempt) end(e event.AttemptEnded) {
	k := r.Worker
	r.stop(e.Outcome)
	i, last := slices.Index(k.Runs, r), len(k.Runs)-1
	k.Runs[i], k.Runs[last] = k.Runs[last], nil
	k.Runs = k.Runs[:last]
	e.Attempt, e.Stats = r.ID, r.stats
	k.Send(step.AttemptEnded{AttemptEnded: e})
}

// stop ends what the attempt does on its node.
func (r *Attempt) stop(how event.Outcome) {
	r.over = true
	r.course.Stop(how)
}

// locate records the location of a map output. When all are known, the reduces fetch the rest.
func (k *Worker) locate(a *app, l step.Locate) {
	o := k.outputsOf(a)
	if !o.have.Has(l.Attempt.Task) {
		o.have.Add(l.Attempt.Task)
		o.count++
		if k.World().cfg.Physics != nil {
			o.nodes = append(o.nodes, int32(a.coordinator.workers[l.Holder].Node))
		}
	}
	if k.World().cfg.Physics == nil && o.count < len(a.Maps) {
		return
	}
	for _, r := range k.Runs {
		if r.app == a {
			r.course.Located()
		}
	}
}

// Outputs returns the cluster's nodes that have the known map outputs of the attempt's job, in the order in which they became known.
func (r *Attempt) Outputs() []int32 { return r.Worker.outputsOf(r.app).nodes }

// outputsOf returns what the worker knows of a job's map outputs.
func (k *Worker) outputsOf(a *app) *outputs {
	o := k.known[a.id]
	if o == nil {
		o = &outputs{}
		k.known[a.id] = o
	}
	return o
}
