package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// fleet is all workers. Each has a connection of its own, and none has processes.
type fleet struct {
	task atomic.Int64 // duration of a task that starts, in nanoseconds

	ended     atomic.Int64 // ends of attempts that were reported
	connected atomic.Int64
}

// serve starts a worker for each path of a configuration that comes in a line of the named pipe, until ctx ends.
func (f *fleet) serve(ctx context.Context, pipe string) error {
	in, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing, too, so that it has no end
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		b, err := os.ReadFile(lines.Text())
		if err != nil {
			return err
		}
		w := &worker{fleet: f, unacked: make(map[job.Attempt]wire.Ended), running: make(map[job.Attempt]bool)}
		if err := json.Unmarshal(b, &w.cfg); err != nil {
			return err
		}
		go w.run(ctx)
	}
	return ctx.Err()
}

// worker is one of them, as far as the coordinator can tell.
type worker struct {
	fleet *fleet
	cfg   wire.WorkerConfig

	mu      sync.Mutex
	conn    *wire.Conn // nil: not connected
	running map[job.Attempt]bool
	unacked map[job.Attempt]wire.Ended
}

// run connects again and again, until the coordinator tells the worker to end.
func (w *worker) run(ctx context.Context) {
	wait := firstWait
	for ctx.Err() == nil {
		welcome, err := w.session(ctx)
		if errors.Is(err, errShutdown) {
			return
		}
		if welcome {
			wait = firstWait
		}
		select { // as a worker of berth waits
		case <-time.After(wait/2 + rand.N(wait/2)):
		case <-ctx.Done():
		}
		wait = min(2*wait, time.Second)
	}
}

const firstWait = 50 * time.Millisecond

var errShutdown = errors.New("told to end")

// session connects once and returns when the connection ends.
func (w *worker) session(ctx context.Context) (welcome bool, err error) {
	b, err := wire.LoadBundle(w.cfg.Bundle)
	if err != nil {
		return false, err
	}
	c, err := wire.Dial(ctx, b)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := c.Send(w.hello()); err != nil {
		return false, err
	}
	m, err := c.Recv()
	if err != nil {
		return false, err
	}
	greeting, ok := m.(*wire.Welcome)
	if !ok {
		return false, errShutdown
	}
	if err := w.begin(c); err != nil {
		return true, err
	}
	w.fleet.connected.Add(1)
	defer w.fleet.connected.Add(-1)
	defer w.apart()
	beat := time.NewTicker(greeting.Heartbeat)
	defer beat.Stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case <-beat.C:
				_ = c.Send(&wire.Heartbeat{}) // the reader notices that it failed
			case <-over:
				return
			}
		}
	}()
	return true, w.hear(c)
}

// hello names what runs, and what has ended without the coordinator's acknowledgement.
func (w *worker) hello() *wire.Hello {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &wire.Hello{Version: wire.Version, Node: w.cfg.Node, Host: "load", Addr: "127.0.0.1:1", PID: os.Getpid(), Capacity: w.cfg.Capacity}
	for at := range w.running {
		h.Running = append(h.Running, at)
	}
	for at := range w.unacked {
		h.Running = append(h.Running, at)
	}
	return h
}

// begin reports the ends on a new connection that no coordinator has acknowledged.
func (w *worker) begin(c *wire.Conn) error {
	w.mu.Lock()
	w.conn = c
	var again []wire.Message
	for _, m := range w.unacked {
		again = append(again, m)
	}
	w.mu.Unlock()
	return c.Send(again...)
}

func (w *worker) apart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = nil
}

// hear handles messages until the connection ends.
func (w *worker) hear(c *wire.Conn) error {
	for {
		m, err := c.Recv()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *wire.Start:
			w.start(m.Attempt)
		case *wire.EndedAck:
			w.mu.Lock()
			delete(w.unacked, m.Attempt)
			w.mu.Unlock()
		case *wire.Sync:
			err = c.Send(&wire.Synced{N: m.N})
		case wire.Kill:
			w.end(event.AttemptEnded{Attempt: m.Attempt, Outcome: event.Killed, Reason: m.Reason})
		case *wire.Shutdown:
			return errShutdown
		}
		if err != nil {
			return err
		}
	}
}

// start has an attempt end after the duration of a task.
func (w *worker) start(at job.Attempt) {
	w.mu.Lock()
	w.running[at] = true
	w.mu.Unlock()
	begun := time.Now()
	time.AfterFunc(time.Duration(w.fleet.task.Load()), func() {
		w.end(event.AttemptEnded{Attempt: at, Outcome: event.Done, Stats: []job.PhaseStat{
			{Phase: job.PhaseCompute, Start: job.Time(begun.UnixNano()), End: job.Time(time.Now().UnixNano()), PeakMemory: 1 << 20},
		}})
	})
}

// end reports an end, unless the attempt has ended before.
func (w *worker) end(r event.AttemptEnded) {
	m := wire.Ended{AttemptEnded: r}
	w.mu.Lock()
	runs, c := w.running[r.Attempt], w.conn
	if delete(w.running, r.Attempt); runs {
		w.unacked[r.Attempt] = m
	}
	w.mu.Unlock()
	if !runs {
		return
	}
	if w.fleet.ended.Add(1); c != nil {
		_ = c.Send(m) // it is repeated on the next connection
	}
}
