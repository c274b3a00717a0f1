package gpus

import (
	"context"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job"
)

// Pool hands out the GPUs of a worker, each to one task at a time.
type Pool struct {
	devices Devices

	mu    sync.Mutex
	used  []bool
	given chan struct{} // closed when some come back
}

// NewPool returns a pool of which all are free.
func NewPool(d Devices) *Pool {
	return &Pool{devices: d, used: make([]bool, d.Count), given: make(chan struct{})}
}

// Acquire returns the indices of n GPUs, the lowest ones that are free. If not enough are free, it waits: the coordinator starts no
// task without room, but one that was killed may still hold some. An error is that of the context.
func (p *Pool) Acquire(ctx context.Context, n int) ([]int, error) {
	for {
		held, again := p.try(n)
		if len(held) == n {
			return held, nil
		}
		select {
		case <-again:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try returns n GPUs, or the channel that is closed when others have come back.
func (p *Pool) try(n int) (held []int, again <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.used {
		if len(held) < n && !p.used[i] {
			held = append(held, i)
		}
	}
	if len(held) < n {
		return nil, p.given
	}
	for _, i := range held {
		p.used[i] = true
	}
	return held, nil
}

// Release gives GPUs back.
func (p *Pool) Release(held []int) {
	if len(held) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range held {
		p.used[i] = false
	}
	close(p.given)
	p.given = make(chan struct{})
}

// Env returns an environment in which the variables that limit programs to some GPUs name those that are held, and none other limits
// them further. An environment of a task that holds none stays as it is.
func (p *Pool) Env(env []string, held []int) []string {
	if len(held) == 0 {
		return env
	}
	out := job.ReplaceEnv(env, func(name string) bool { return name == hip || slices.Contains(variables[:], name) })
	for _, l := range p.devices.Lists {
		ids := make([]string, len(held))
		for i, at := range held {
			ids[i] = l.IDs[at]
		}
		out = append(out, l.Variable+"="+strings.Join(ids, ","))
	}
	return out
}
