package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// Tasks share GPUs by device: none has more than it is, none is shared and whole at once, what the node says is free is what some placement on
// its devices holds, and the next task has room there.
func TestSharedGPUs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gpus := rapid.IntRange(1, 4).Draw(t, "gpus")
		p, n, j := &Pool{}, &Node{Capacity: job.Vector{GPU: int64(gpus) * job.Milli}}, &Job{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if k := len(n.Running); k > 0 && rapid.Bool().Draw(t, "end") {
				p.Vacate(n, n.Running[rapid.IntRange(0, k-1).Draw(t, "which")], 0)
				continue
			}
			takes := job.Vector{GPU: rapid.SampledFrom([]int64{100, 250, 300, 333, 500, 700, 1000, 2000}).Draw(t, "takes")}
			room := slots(takes, n.FreeFor(takes))
			if want := places(n, gpus, takes.GPU); room != want {
				t.Fatalf("room for %d tasks of %d beside %v and %d in use, want %d", room, takes.GPU, n.shared, n.Used.GPU, want)
			}
			if room > 0 {
				ranks := rapid.IntRange(1, room).Draw(t, "ranks")
				r := &Running{Job: j, Of: &Tasks{}, Holds: takes.Times(ranks), GPUs: n.Sharing(takes, ranks)}
				if (takes.GPU < job.Milli) != (len(r.GPUs) == ranks) {
					t.Fatalf("%d of %d share %v", ranks, takes.GPU, r.GPUs)
				}
				p.Occupy(n, r)
			}
			places(n, gpus, job.Milli) // checks what runs
		}
		for len(n.Running) > 0 {
			p.Vacate(n, n.Running[0], 0)
		}
		if n.Used.GPU != 0 || slices.Max(append(n.shared, 0)) != 0 {
			t.Fatalf("what is left of an empty node: %v", n.shared)
		}
	})
}

// places counts, by device, for how many tasks that take so much the node has room, and panics if it holds what its devices cannot.
func places(n *Node, gpus int, takes int64) (room int) {
	on := map[uint16]int64{}
	for _, r := range n.Running {
		for _, k := range r.GPUs {
			on[k] += r.Holds.GPU / int64(len(r.GPUs))
		}
		if r.GPUs == nil {
			gpus -= int(r.Holds.GPU / job.Milli)
		}
	}
	for _, used := range on {
		if gpus--; used > job.Milli {
			panic("more than one GPU is in use of one")
		}
		for free := job.Milli - used; free >= takes; free -= takes {
			room++
		}
	}
	if gpus < 0 {
		panic("more GPUs are in use than there are")
	}
	if takes >= job.Milli {
		return gpus / int(takes/job.Milli)
	}
	return room + gpus*int(job.Milli/takes)
}
