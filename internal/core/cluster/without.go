package cluster

import (
	"slices"

	"berth/internal/core/job"
)

// GivenBack returns the snapshot as it would be if a running job ended at that time, if its limit is not before. An id that is not running
// changes nothing.
func (s Snapshot) GivenBack(id string, at job.Time) Snapshot {
	if s.Queue == nil {
		return s
	}
	if i := slices.IndexFunc(s.Queue.Running, func(j Queued) bool { return j.ID == id }); i >= 0 {
		queue := *s.Queue
		queue.Running = slices.Clone(queue.Running)
		queue.Running[i].Free = at
		s.Queue = &queue
	}
	return s
}

// Without returns the snapshot as it would be without a running job: the resources of the job are free on its nodes.
// An id that is not running changes nothing.
func (s Snapshot) Without(id string) Snapshot {
	if s.Queue == nil {
		return s
	}
	i := slices.IndexFunc(s.Queue.Running, func(j Queued) bool { return j.ID == id })
	if i < 0 {
		return s
	}
	gone, queue := s.Queue.Running[i], *s.Queue
	queue.Running = slices.Delete(slices.Clone(queue.Running), i, i+1)
	s.Queue, s.Nodes = &queue, slices.Clone(s.Nodes)
	for _, n := range gone.Nodes {
		node := &s.Nodes[n]
		free, all := node.Free.Plus(gone.PerNode), node.Capacity
		gpus := node.Free.GPUs + gpusOf(gone.PerNode, all.GPUType)
		node.Free = job.Resources{CPUs: min(free.CPUs, all.CPUs), Mem: min(free.Mem, all.Mem), GPUs: min(gpus, all.GPUs), GPUType: all.GPUType}
	}
	return s
}
