package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/driver"
)

// How long a coordinator that ends waits for its drivers. What they have not done by then is left to the
// next coordinator: requests and allocations are in the journal, and Sweep finds what remains of others.
const (
	callPatience  = 5 * time.Second  // for calls that are under way or queued
	closePatience = 25 * time.Second // for Driver.Close; that of Slurm waits 20 s for cancellations
)

// backend is a driver and the queue of calls that the loop makes of it.
//
// The calls are made beside the loop, each in a goroutine that waits for the call before it. The queue
// has no bound, because the loop must not wait for a driver: a call may hang on a file system or a batch
// system, and the driver may wait for the loop to accept a report. A backend that hangs delays only its
// own calls.
type backend struct {
	driver driver.Driver
	last   chan struct{} // closed once the call that was queued last is over
}

// backends contains the backends that the coordinator can use, by the name in AllocRequest.On.
type backends struct {
	ctx    context.Context // of calls
	cancel context.CancelFunc
	active sync.WaitGroup // goroutines that make calls

	mu sync.Mutex
	by map[string]*backend
}

func newBackends() *backends {
	ctx, cancel := context.WithCancel(context.Background())
	return &backends{ctx: ctx, cancel: cancel, by: make(map[string]*backend)}
}

// add sets the driver of a backend.
func (bs *backends) add(on string, d driver.Driver) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.by[on] = &backend{driver: d}
}

// driver returns the driver of a backend, or nil if there is none.
func (bs *backends) driver(on string) driver.Driver {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b := bs.by[on]; b != nil {
		return b.driver
	}
	return nil
}

// call queues a call of the driver of a backend and returns at once. It returns false if there is no such backend.
func (bs *backends) call(on string, f func(context.Context, driver.Driver)) bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b := bs.by[on]
	if b == nil {
		return false
	}
	before, over := b.last, make(chan struct{})
	b.last = over
	bs.active.Go(func() {
		defer close(over)
		if before != nil {
			<-before
		}
		f(bs.ctx, b.driver)
	})
	return true
}

// close waits for the queued calls for at most calls, and then for the drivers to close for at most
// closing. A driver whose calls still hang is closed too.
func (bs *backends) close(calls, closing time.Duration) error {
	called := within(calls, bs.active.Wait)
	bs.cancel()
	bs.mu.Lock()
	drivers := slices.Collect(maps.Values(bs.by))
	bs.mu.Unlock()
	all := make(chan error, len(drivers))
	for _, b := range drivers {
		go func() { all <- b.driver.Close() }()
	}
	var err error
	closed := within(closing, func() {
		for range drivers {
			err = errors.Join(err, <-all)
		}
	})
	switch {
	case !closed:
		return fmt.Errorf("a driver did not close within %v; the next coordinator continues with its allocations", closing)
	case !called:
		return errors.Join(err, fmt.Errorf("calls of drivers did not return within %v; the next coordinator repeats them", calls))
	}
	return err
}

// within runs f and reports whether it returned within patience.
func within(patience time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}
