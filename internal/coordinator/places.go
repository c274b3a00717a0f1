package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/driver"
)

// How long the end of a coordinator waits for its drivers. What they have not done by then, the
// next coordinator does: requests and allocations are in the journal, what is left of others is
// found by Sweep.
const (
	callPatience  = 5 * time.Second  // for calls that are under way or queued
	closePatience = 25 * time.Second // for Driver.Close; that of Slurm waits 20 s for cancellations
)

// place is a driver and the calls that the loop makes of it.
//
// Calls are made beside the loop and one after the other, in a goroutine of the place's own that lives
// as long as there are any. Their number is not bounded, as the loop must not wait for a driver: a
// call may hang on a file system or a batch system that does not answer, and the driver may be waiting
// for the loop to take a report. A place that hangs keeps only its own calls waiting.
type place struct {
	driver driver.Driver

	mu     sync.Mutex
	queue  []func(context.Context)
	active bool // a goroutine makes the calls
}

// call queues a call of the place's driver and returns at once.
func (p *place) call(ctx context.Context, active *sync.WaitGroup, f func(context.Context)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, f)
	if p.active {
		return
	}
	p.active = true
	active.Go(func() {
		for f := p.next(); f != nil; f = p.next() {
			f(ctx)
		}
	})
}

// next takes the next call, nil where there is none.
func (p *place) next() func(context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.queue, p.active = nil, false
		return nil
	}
	f := p.queue[0]
	p.queue = p.queue[1:]
	return f
}

// places is where the coordinator can run workers, by what AllocRequest.On says.
type places struct {
	ctx    context.Context // of calls
	cancel context.CancelFunc
	active sync.WaitGroup // goroutines that make calls

	mu sync.RWMutex
	by map[string]*place
}

func newPlaces() *places {
	ctx, cancel := context.WithCancel(context.Background())
	return &places{ctx: ctx, cancel: cancel, by: make(map[string]*place)}
}

// add makes a driver the one that allocations on that place are asked of.
func (ps *places) add(on string, d driver.Driver) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.by[on] = &place{driver: d}
}

// driver returns the driver of a place, nil where there is none.
func (ps *places) driver(on string) driver.Driver {
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	if p := ps.by[on]; p != nil {
		return p.driver
	}
	return nil
}

// call queues a call of the place's driver. It returns false where there is no such place.
func (ps *places) call(on string, f func(context.Context, driver.Driver)) bool {
	ps.mu.RLock()
	p := ps.by[on]
	ps.mu.RUnlock()
	if p == nil {
		return false
	}
	p.call(ps.ctx, &ps.active, func(ctx context.Context) { f(ctx, p.driver) })
	return true
}

// close waits for the calls that were queued and closes the drivers, each for so long at most. A
// driver whose calls still hang is closed all the same.
func (ps *places) close(calls, closing time.Duration) error {
	called := within(calls, ps.active.Wait)
	ps.cancel()
	ps.mu.RLock()
	defer ps.mu.RUnlock()
	all := make(chan error, len(ps.by))
	for _, p := range ps.by {
		go func() { all <- p.driver.Close() }()
	}
	var err error
	closed := within(closing, func() {
		for range ps.by {
			err = errors.Join(err, <-all)
		}
	})
	switch {
	case !closed:
		return fmt.Errorf("a driver does not end within %v; the next coordinator goes on with its allocations", closing)
	case !called:
		return errors.Join(err, fmt.Errorf("calls of drivers hang for %v; the next coordinator repeats them", calls))
	}
	return err
}

// within runs f and reports whether it returned in time.
func within(patience time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
