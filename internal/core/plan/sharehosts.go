package plan

import (
	"fmt"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// shareHosts gives each named host one worker with everything that the user allowed of the host. Hosts differ:
// PerNode of the layout is the largest of those that have room for a task of each kind, and slots are counted host by host. A host that cannot be reached now
// has no slots yet, and may have some later.
func shareHosts(snap cluster.Snapshot, spec *job.Spec, mix taskMix) (Layout, error) {
	nodes, r := snap.Nodes, &spec.Request
	if !mix.allUsual() && len(r.Remote.Rent.Machines) > 0 {
		return Layout{}, job.ArgumentError("--on "+r.On, "machines are rented only for tasks that all need the same, and these need "+mix.text(mostNeeds), "submit a bag for each, or run them elsewhere")
	}
	l := Layout{Speed: 1}
	if len(nodes) < r.MinNodes {
		return Layout{}, job.ArgumentError("--nodes", fmt.Sprintf("at least %d nodes were requested, but there are %s", r.MinNodes, job.Count(len(nodes), "host")), "name more hosts, or request fewer nodes")
	}
	if r.MaxNodes > 0 && len(nodes) > r.MaxNodes {
		l.note("%d of %d hosts are used, as --nodes allows %s", r.MaxNodes, len(nodes), bounds(r))
		nodes = nodes[:r.MaxNodes]
	}
	l.Nodes = len(nodes)
	kinds := slices.Concat(mix, reduceKind(spec))
	best, err := largest(cluster.Snapshot{Driver: snap.Driver, Nodes: suited(nodes, kinds)})
	if err != nil {
		return Layout{}, err
	}
	l.PerNode = best.Capacity
	l.sortMemory(r)
	for i, k := range kinds {
		holds := slices.ContainsFunc(nodes, func(h cluster.Node) bool { return k.Fits(h.Capacity) })
		if err := fitsWorker(kinds.named(i), best, l); err != nil && (!holds || spec.Kind != job.Bag) {
			return Layout{}, kinds.noRoom(i, err)
		}
	}
	var up, all []job.Resources
	for _, n := range nodes {
		if all = append(all, n.Capacity); n.Down == "" {
			up = append(up, n.Capacity)
		}
	}
	for i := range kinds {
		if err := kinds.named(i).fitsTogether(all, "host"); err != nil {
			return Layout{}, kinds.noRoom(i, err)
		}
	}
	l.setSlots(spec, mix, up)
	if cores := (cluster.Snapshot{Nodes: nodes}).Capacity().CPUs; cores < l.Nodes*l.PerNode.CPUs {
		l.note("the hosts differ, or some cannot be used now: the largest has %s for tasks, all together have %d", job.Count(l.PerNode.CPUs, "core"), cores)
	}
	return l, nil
}

// suited returns the nodes that have room for a task of each kind; all nodes if none has.
func suited(nodes []cluster.Node, kinds taskMix) []cluster.Node {
	out := slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return !kinds.fitsNode(n.Capacity) })
	if len(out) == 0 {
		return nodes
	}
	return out
}
