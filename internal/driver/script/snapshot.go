package script

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// view is what snapshot prints: a snapshot as all drivers make it, or as little as a number of free nodes.
type view struct {
	cluster.Snapshot
	Nodes   []node        `json:"nodes"`
	Free    int           `json:"free_nodes"`
	PerNode job.Resources `json:"per_node"`
}

// node is a node. What is free of it may be missing: it is all that the listed jobs do not have.
type node struct {
	cluster.Node
	Free *job.Resources `json:"free"`
}

// anywhere is the partition of all nodes where the scheduler has none. Requests do not name it.
const anywhere = "any"

// grain is the unit of wall times where none is given. most bounds numbers.
const (
	grain = time.Second
	most  = 1 << 20
)

// snapshot returns the snapshot of a scheduler, after a check.
func (v *view) snapshot(name string) (cluster.Snapshot, error) {
	snap := v.Snapshot
	snap.Driver, snap.Nodes = Name, nil
	if v.Free < 0 || v.Free > most {
		return snap, fmt.Errorf("free_nodes is %d", v.Free)
	}
	for _, n := range v.Nodes {
		n.Node.Free = n.Capacity
		if n.Free != nil {
			n.Node.Free = *n.Free
		}
		snap.Nodes = append(snap.Nodes, n.Node)
	}
	for i := range v.Free {
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: fmt.Sprintf("free-%d", i+1), Capacity: v.PerNode, Free: v.PerNode})
	}
	if snap.Queue == nil {
		snap.Queue = &cluster.Queue{}
	}
	q := snap.Queue
	q.Cluster, q.Grain = cmp.Or(q.Cluster, name), cmp.Or(q.Grain, grain)
	err := check(&snap)
	if len(q.Partitions) == 0 {
		all := cluster.Partition{Name: anywhere, Default: true}
		for i := range snap.Nodes {
			all.Nodes = append(all.Nodes, i)
		}
		q.Partitions = []cluster.Partition{all}
	}
	return snap, err
}

// check returns what is wrong in a snapshot, nil if nothing is.
func check(s *cluster.Snapshot) error {
	if len(s.Nodes) == 0 {
		return errors.New(`it names no nodes: "nodes" and "free_nodes" are missing`)
	}
	var errs []error
	refuse := func(wrong bool, what string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(what, args...))
		}
	}
	for i, n := range s.Nodes {
		c := n.Capacity
		refuse(n.Name == "" || c.CPUs < 1 || c.CPUs > job.MaxCPUs || c.Mem < 1 || negative(c) || negative(n.Free) || negative(c.Minus(n.Free)),
			"nodes[%d] needs a name, cpus and mem_bytes, and more cannot be free than it has: %q, %+v", i, n.Name, c)
	}
	named := func(where string, nodes []int) {
		for _, i := range nodes {
			refuse(i < 0 || i >= len(s.Nodes), "%s names node %d of %d; they count from 0", where, i, len(s.Nodes))
		}
	}
	q := s.Queue
	refuse(q.Grain < 0 || q.Depth < -1, "queue has a negative grain_ns or depth")
	for i, p := range q.Partitions {
		where := fmt.Sprintf("queue.partitions[%d]", i)
		refuse(p.Name == "" || p.Name == anywhere || min(p.MaxTime, p.DefaultTime, p.MinTime) < 0 || min(p.MinNodes, p.MaxNodes, p.MinCPUs) < 0,
			"%s needs a name and no negative bounds", where)
		named(where, p.Nodes)
	}
	for k, jobs := range [][]cluster.Queued{q.Running, q.Pending} {
		for i, j := range jobs {
			where := fmt.Sprintf("queue.%s[%d]", []string{"running", "pending"}[k], i)
			refuse(j.ID == "" || min(j.Count, j.Repeat) < 0 || max(j.Count, j.Repeat) > most || j.Limit < 0 || j.Start < 0 || negative(j.PerNode),
				"%s needs an id and no negative numbers", where)
			named(where, j.Nodes)
		}
	}
	for i, r := range q.Reservations {
		named(fmt.Sprintf("queue.reservations[%d]", i), r.Nodes)
	}
	return cmp.Or(errs...)
}

// negative reports whether an amount is.
func negative(r job.Resources) bool { return r.CPUs < 0 || r.Mem < 0 || r.GPUs < 0 }
