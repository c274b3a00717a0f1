package step

import (
	"fmt"

	"berth/internal/core/job"
)

// UserError returns an error that the user of a job can correct.
func UserError(id job.ID, what, do string) error {
	return job.ArgumentError(string(id), what, do)
}

// CheckAllocs returns an error for requests on which the job could not run.
func CheckAllocs(w *job.Work) error {
	r := w.Alloc
	if err := checkFit(w, r); err != nil {
		return err
	}
	for _, m := range w.More {
		if !r.Elastic || job.ShapeOf(m) != job.ShapeOf(r) {
			return UserError(w.ID, fmt.Sprintf("a further allocation on %s has other options than the first one on %s", m.On, r.On), "")
		}
		if m.Nodes < 1 {
			return UserError(w.ID, fmt.Sprintf("an allocation cannot have %d nodes", m.Nodes), "request at least one")
		}
	}
	return nil
}

// checkFit returns an error if no node of the allocation has room for a task.
func checkFit(w *job.Work, r job.AllocRequest) error {
	if w.Total() > 0 && r.Nodes < 1 && (!r.Elastic || r.Nodes < 0) { // an elastic job may request no nodes, as idle allocations serve it
		return UserError(w.ID, fmt.Sprintf("an allocation cannot have %d nodes", r.Nodes), "request at least one")
	}
	for _, c := range []struct {
		tasks int
		kind  job.TaskKind
		need  job.Resources
	}{{w.Left()[0].Waiting, w.TaskKind(0), w.Need}, {w.Reduces, job.ReduceTask, w.ReduceNeed}} {
		if has := r.PerNode; c.tasks > 0 {
			if r.Elastic && w.Further != nil { // the first of several allocations may be for tasks with needs of their own
				has = c.need
			}
			if err := checkNeed(w.ID, c.kind, c.need, has); err != nil {
				return err
			}
		}
	}
	if r.Remote.Away() {
		return nil // hosts differ, and the plan has checked that one of them is large enough
	}
	if w.Left()[0].Waiting > 0 {
		if err := checkGang(w, w.Terms.Needs()); err != nil {
			return err
		}
	}
	for _, n := range w.Further {
		if err := CheckNeeds(w, n); err != nil {
			return err
		}
	}
	return nil
}

// CheckNeeds returns an error if no node of the allocations of a bag has room for a task with needs of its own. Those of a batch system may
// be followed by others with larger nodes.
func CheckNeeds(w *job.Work, own job.Needs) error {
	own = own.In(w.Terms.Needs())
	has, need := w.Alloc.PerNode, own.Resources()
	if w.Alloc.Elastic {
		has = need
	}
	if err := checkNeed(w.ID, w.TaskKind(0), need, has); err != nil {
		return err
	}
	return checkGang(w, own)
}

// checkGang returns an error if the nodes of the allocations of a bag have no room for a task of several ranks. Those of a batch system may be
// followed by others with more and larger nodes.
func checkGang(w *job.Work, n job.Needs) error {
	r := w.Alloc
	nodes, room := n.NodesOf(r.PerNode), r.PerNode.Slots(n.Resources())
	switch {
	case !n.Several() || r.Elastic:
	case nodes == 0:
		return UserError(w.ID, fmt.Sprintf("a task has %d ranks on each node, a node has room for %d", n.RanksPerNode, room),
			"request less for each rank, fewer ranks on each node, or larger nodes")
	case nodes > r.Nodes:
		return UserError(w.ID, fmt.Sprintf("a task of %d ranks needs %s at once, and the allocation has %d", n.Ranks, job.Count(nodes, "node"), r.Nodes),
			"request fewer ranks, less for each of them, or more nodes")
	}
	return nil
}

func checkNeed(id job.ID, kind job.TaskKind, need, has job.Resources) error {
	switch {
	case need.CPUs < 1 || need.Mem < 0:
		return UserError(id, fmt.Sprintf("a %s cannot need %s", kind, need.Words()), "request at least one core")
	case !need.Fits(has):
		return UserError(id, fmt.Sprintf("a %s needs %s, a node has %s", kind, need.Words(), has.Words()),
			"request less for each task, or larger nodes")
	}
	return nil
}
