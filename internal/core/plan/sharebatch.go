package plan

import (
	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// plenty stands for the number of tasks of a job whose input is not split yet.
const plenty = 1 << 30

// shareBatch returns the largest layout that a job could get from a batch system: the largest worker on all nodes
// that fit one and are allowed. The number of nodes is decided later. The memory of a task for sorting is the same
// then, because a worker's memory is proportional to its cores.
func shareBatch(snap cluster.Snapshot, spec *job.Spec) (Layout, error) {
	a := newAdaptor(&Question{Snap: snap, Spec: spec, Counts: Counts{Tasks: plenty}})
	a.setLoad(plenty)
	d := decision{adaptor: a}
	if err := d.findOffers(); err != nil {
		return Layout{}, err
	}
	var best Layout
	for _, o := range d.offers {
		l := Layout{Nodes: min(o.usable, o.maxNodes), PerNode: o.perNode, Speed: 1}
		l.TaskSlots, l.ReduceSlots = min(o.taskSlots.onNodes(l.Nodes), a.throttle), o.reduceSlots.onNodes(l.Nodes)
		if l.TaskSlots > best.TaskSlots {
			l.sortMemory(&spec.Request)
			best = l
		}
	}
	return best, nil
}
