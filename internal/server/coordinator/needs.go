package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/server/rundir"
)

// needs returns which of so many tasks have which needs. A task that no node could run is refused.
func (s *Server) needs(ctx context.Context, l *live, tasks int, own rundir.OwnNeeds) (job.NeedsList, error) {
	place := placing{l: l, sizes: []nodeSize{{l.Plan.Alloc.PerNode, max(1, l.Plan.Alloc.Nodes)}}}
	if l.Plan.Alloc.Elastic {
		place.more = func() ([]nodeSize, error) { return s.nodeSizes(ctx, l) }
	}
	list, err := own.List(tasks, place.as)
	if len(list.Further) >= job.MaxNeeds && err == nil {
		err = job.ConfigError(string(l.run.ID), fmt.Sprintf("the tasks have %d different needs, and at most %d are possible", len(list.Further), job.MaxNeeds-1),
			"round what they need, or divide them among several bags")
	}
	return list, err
}

// nodeSize is what nodes have, and how many that have so much one allocation can have.
type nodeSize struct {
	job.Resources
	nodes int
}

// placing finds nodes for the tasks of one call.
type placing struct {
	l     *live
	sizes []nodeSize                 // of the nodes on which the job's tasks could run
	more  func() ([]nodeSize, error) // the sizes of further nodes that the job could get; nil: sizes has all
}

// as returns the needs by which a task with these needs of its own is placed: as coarse as nodes allow. It returns an error if no node
// could run the task.
func (p *placing) as(own job.Needs, where string) (job.Needs, error) {
	if own == (job.Needs{}) || p.on(&own) {
		return own, nil
	}
	if p.more != nil {
		more, err := p.more()
		if err != nil {
			return own, err
		}
		if p.sizes, p.more = append(p.sizes, more...), nil; p.on(&own) {
			return own, nil
		}
	}
	need := own.In(p.l.Spec.Bag.Needs())
	largest := slices.MaxFunc(p.sizes, func(a, b nodeSize) int {
		return cmp.Or(cmp.Compare(min(a.GPUs, need.GPUs), min(b.GPUs, need.GPUs)), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(a.Mem, b.Mem), cmp.Compare(a.nodes, b.nodes))
	})
	what, do := fmt.Sprintf("the task needs %s, and the largest node has %s", need.Words(), largest.Words()), "let it need less, or run the bag where nodes are larger"
	if n := need.NodesOf(largest.Resources); n > 1 {
		what = fmt.Sprintf("the task needs %s, at least %s of %s, and may have %d", need.Words(), job.Count(n, "node"), largest.Words(), largest.nodes)
		do = "let it need less, or run the bag where there are more nodes"
	}
	return own, job.ConfigError(where, what, do)
}

// on makes the needs of a task coarse and reports whether nodes hold it. Memory stays as it is if none have as much as the coarse one.
func (p *placing) on(own *job.Needs) bool {
	bag, coarse := p.l.Spec.Bag.Needs(), own.Coarse()
	for _, mem := range [...]int64{coarse.Mem, own.Mem} {
		n := coarse
		n.Mem = mem
		all := n.In(bag)
		for _, size := range p.sizes {
			if on := all.NodesOf(size.Resources); on > 0 && on <= size.nodes {
				*own = n
				return true
			}
		}
	}
	return false
}

// nodeSizes returns what the nodes have on which a batch system could run tasks of the job, each size of a partition once.
func (s *Server) nodeSizes(ctx context.Context, l *live) (sizes []nodeSize, err error) {
	a := &l.Plan.Alloc
	_, snap, err := s.snapshot(ctx, queueOf{a.On, a.Batch.Cluster})
	if err != nil {
		return nil, err
	}
	snap = snap.Physical(a.Batch.Args)
	for partition := range strings.SplitSeq(a.Batch.Partitions(), ",") {
		nodes, _ := snap.Usable(cluster.View{Partition: partition, PerNode: job.Resources{CPUs: 1}, Constraint: a.Batch.Constraint, Account: a.Batch.Account,
			Asks: strings.Join(a.Batch.Args, " ")})
		most := math.MaxInt
		for _, p := range snap.Queue.Partitions {
			if p.Name == partition {
				most = min(cmp.Or(p.MaxNodes, most), cmp.Or(l.Spec.Request.MaxNodes, most))
			}
		}
		from := len(sizes)
		for _, i := range nodes {
			has := snap.Nodes[i].Capacity
			has.Disk, has.Net = 0, 0
			if !slices.ContainsFunc(sizes[from:], func(s nodeSize) bool { return s.Resources == has }) {
				sizes = append(sizes, nodeSize{Resources: has})
			}
		}
		for k := range sizes[from:] {
			size := &sizes[from+k]
			for _, i := range nodes {
				if size.Fits(snap.Nodes[i].Capacity) && size.nodes < most {
					size.nodes++
				}
			}
		}
	}
	return sizes, nil
}

// workNeeds sets which tasks of a bag have which needs, as the columns of their entries say.
func (s *Server) workNeeds(ctx context.Context, l *live, w *job.Work) error {
	own := rundir.EntryNeeds(l.Spec.Bag, l.Tasks.Entries.At)
	if own == nil {
		return nil
	}
	list, err := s.needs(ctx, l, l.Tasks.Entries.Len(), own)
	w.Further, w.Which = list.Further, list.Runs()
	return err
}
