package sched

import (
	"slices"

	"berth/internal/core/job"
)

// A task may have a share of one GPU, which others share with it (job.Resources.GPUShare). It is on one device: what is free of two does not add up.
// Those that tasks share have numbers, by which the worker knows which tasks are to share one; which device that is, it chooses when the first of
// them starts. All amounts are whole thousandths, so nothing is rounded.

// FreeFor is Free, with as much of the GPUs as tasks that take so much each can use.
func (n *Node) FreeFor(takes job.Vector) job.Vector { return fitted(takes, n.Free(), n.shared) }

// fitted returns what is free with as much of the GPUs as tasks that take so much each can use, given what is in use of each that tasks share.
func fitted(takes, free job.Vector, shared []int64) job.Vector {
	if takes.GPU <= 0 {
		return free
	}
	whole := max(0, idle(free.GPU, shared))
	if free.GPU = whole; takes.GPU < job.Milli {
		tasks := whole / job.Milli * (job.Milli / takes.GPU)
		for _, used := range shared {
			if used > 0 {
				tasks += (job.Milli - used) / takes.GPU
			}
		}
		free.GPU = tasks * takes.GPU
	}
	return free
}

// idle returns how much is free of GPUs that no task shares; below 0: tasks share more of them than there are.
func idle(free int64, shared []int64) int64 {
	for _, used := range shared {
		if used > 0 {
			free -= job.Milli - used
		}
	}
	return free
}

// Sharing returns the numbers of the GPUs of the node of which so many tasks get a share that take so much each. nil: they share none.
func (n *Node) Sharing(takes job.Vector, tasks int) []uint16 {
	numbers, _ := sharing(slices.Clone(n.shared), takes, tasks)
	return numbers
}

// sharing adds such tasks to what is in use of each GPU that tasks share: each where least is left, or to another GPU.
func sharing(shared []int64, takes job.Vector, tasks int) (numbers []uint16, after []int64) {
	if takes.GPU <= 0 || takes.GPU >= job.Milli {
		return nil, shared
	}
	for range tasks {
		best := -1
		for i, used := range shared {
			if used > 0 && used+takes.GPU <= job.Milli && (best < 0 || used > shared[best]) {
				best = i
			}
		}
		if best < 0 {
			best = slices.Index(shared, 0)
		}
		if best < 0 {
			best, shared = len(shared), append(shared, 0)
		}
		shared[best] += takes.GPU
		numbers = append(numbers, uint16(best))
	}
	return numbers, shared
}

// share adds (sign 1) or subtracts (sign −1) what the attempt holds of GPUs that tasks share.
func (r *Running) share(shared []int64, sign int) []int64 {
	for _, k := range r.GPUs {
		for int(k) >= len(shared) {
			shared = append(shared, 0)
		}
		shared[k] += int64(sign) * (r.Holds.GPU / int64(len(r.GPUs)))
	}
	return shared
}
