package gpus

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job"
)

// Pool hands out the GPUs of a worker: each to one task at a time, or shares of it to several.
type Pool struct {
	devices Devices

	mu     sync.Mutex
	used   []int          // thousandths of each in use
	shared map[uint16]int // the index of each that tasks share, by the number that the coordinator has for it
	given  chan struct{}  // closed when some come back
}

// Held is what a task has of the GPUs of a worker.
type Held struct {
	of   []int // the indices of its GPUs; of shares one for each, which may be the same
	each int   // thousandths that it has for each of these
}

// NewPool returns a pool of which all are free.
func NewPool(d Devices) *Pool {
	return &Pool{devices: d, used: make([]int, d.Count), shared: make(map[uint16]int), given: make(chan struct{})}
}

// Acquire returns the GPUs of so many tasks or ranks with that need: the lowest ones that are free, or if each has a share of a GPU, those with the
// numbers of shared. The first task that gets a number chooses its GPU. If not enough are free, it waits: the coordinator starts no
// task without room, but one that was killed may still hold some. An error is that of the context.
func (p *Pool) Acquire(ctx context.Context, need job.Resources, tasks int, shared []uint16) (Held, error) {
	for {
		held, again := p.try(need, tasks, shared)
		if again == nil {
			return held, nil
		}
		select {
		case <-again:
		case <-ctx.Done():
			return Held{}, context.Cause(ctx)
		}
	}
}

// try returns GPUs, or the channel that is closed when others have come back.
func (p *Pool) try(need job.Resources, tasks int, shared []uint16) (held Held, again <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held.each = cmp.Or(need.GPUShare, job.Milli)
	for k := range need.GPUs * tasks {
		i := slices.Index(p.used, 0)
		if k < len(shared) {
			if at, there := p.shared[shared[k]]; there {
				i = at
			}
		}
		if i < 0 || p.used[i]+held.each > job.Milli {
			p.release(held)
			return Held{}, p.given
		}
		if k < len(shared) {
			p.shared[shared[k]] = i
		}
		p.used[i] += held.each
		held.of = append(held.of, i)
	}
	return held, nil
}

// Release gives GPUs back.
func (p *Pool) Release(held Held) {
	if len(held.of) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(held)
	close(p.given)
	p.given = make(chan struct{})
}

func (p *Pool) release(held Held) {
	for _, i := range held.of {
		p.used[i] -= held.each
	}
	maps.DeleteFunc(p.shared, func(_ uint16, i int) bool { return p.used[i] == 0 })
}

// Env returns an environment in which the variables that limit programs to some GPUs name those that are held, and none other limits
// them further. An environment of a task that holds none stays as it is.
func (p *Pool) Env(env []string, held Held) []string {
	if len(held.of) == 0 {
		return env
	}
	seen := slices.Compact(slices.Sorted(slices.Values(held.of)))
	out := job.ReplaceEnv(env, func(name string) bool { return name == hip || slices.Contains(variables[:], name) })
	for _, l := range p.devices.Lists {
		ids := make([]string, len(seen))
		for i, at := range seen {
			ids[i] = l.IDs[at]
		}
		out = append(out, l.Variable+"="+strings.Join(ids, ","))
	}
	return out
}
