package worker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// The waits between attempts to connect, and the longest time of a connection attempt and of a greeting.
const (
	firstWait     = 50 * time.Millisecond
	longestWait   = time.Second
	greetPatience = 10 * time.Second
)

// backoff doubles the wait after each attempt to connect. Half of it is random, so that the workers of a
// coordinator that comes back do not all connect at the same time.
type backoff struct {
	rand *rand.Rand
	wait time.Duration
}

func (b *backoff) next() time.Duration {
	d := b.wait/2 + time.Duration(b.rand.Int64N(int64(b.wait)/2+1))
	b.wait = min(2*b.wait, longestWait)
	return d
}

// shutdown is the error of a worker that the coordinator has asked to end.
type shutdown struct{ reason string }

func (s *shutdown) Error() string { return "told to end: " + s.reason }

// session connects once and returns when the connection ends. welcome says whether the coordinator accepted the
// worker.
func (w *worker) session(ctx context.Context, deadline time.Time) (welcome bool, err error) {
	// To list thousands of map outputs on a slow disk takes time. This is done before the worker connects, as
	// the coordinator waits only for a limited time for a hello.
	held := w.shuffle.Store.Held()
	if soon := time.Now().Add(greetPatience); soon.Before(deadline) {
		deadline = soon
	}
	greeting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	c, err := w.dial(greeting)
	if err != nil {
		return false, err
	}
	defer c.Close()
	patient := context.AfterFunc(greeting, func() { _ = c.Close() })
	hello := time.Now()
	if err := w.greet(c, held); err != nil {
		return false, err
	}
	m, err := c.Recv()
	if err != nil {
		return false, fmt.Errorf("await welcome: %w", err)
	}
	switch m := m.(type) {
	case *wire.Welcome:
		if !patient() {
			return false, greeting.Err()
		}
		return true, w.attendTo(ctx, c, hello, m)
	case *wire.Shutdown:
		return false, &shutdown{m.Reason}
	default:
		return false, fmt.Errorf("got %T instead of a welcome", m)
	}
}

// greet sends the hello, with the map outputs on this node. The hello is made while there is no connection, so
// that the end of an attempt is either in it or is sent after it.
func (w *worker) greet(c conn, held []job.Attempt) error {
	addr := w.shuffle.Address()
	h := &wire.Hello{Version: wire.Version, Node: w.cfg.Node, Host: w.rates.host, PID: os.Getpid(), Capacity: w.rates.capacity(addr),
		Addr: addr, Held: held, Type: w.cfg.NodeType, Apart: w.far()}
	if w.scratch.shared {
		h.Outputs = w.scratch.outputs()
	}
	for _, a := range w.running() { // before the unacknowledged ones, as an attempt moves from here to there
		h.Running = append(h.Running, a.id)
	}
	h.Running = append(h.Running, w.sharesOver()...)
	running := len(h.Running)
	for _, at := range w.link.unacknowledged() {
		if !slices.Contains(h.Running[:running], at) {
			h.Running = append(h.Running, at)
		}
	}
	return c.Send(h)
}

// attendTo handles the messages of the coordinator until the connection ends.
func (w *worker) attendTo(ctx context.Context, c conn, hello time.Time, m *wire.Welcome) error {
	defer w.link.apart()
	epoch, err := w.link.welcome(c, hello, m.Lease)
	if err != nil {
		return err
	}
	w.follow(m.Now)
	w.log.Info("welcome", "heartbeat", m.Heartbeat, "lease", m.Lease)
	over := make(chan struct{})
	beaten := make(chan struct{})
	go func() {
		defer close(beaten)
		w.beat(ctx, c, m.Heartbeat, over)
	}()
	defer func() { close(over); <-beaten }()
	for {
		m, err := c.Recv()
		if err != nil {
			return err
		}
		if err := w.hear(m, epoch); err != nil {
			return err
		}
	}
}

// beat sends heartbeats. It closes the connection when the lease is over, because then the coordinator may be
// gone, and when the worker must end.
func (w *worker) beat(ctx context.Context, c conn, every time.Duration, over <-chan struct{}) {
	tick := time.NewTicker(max(every, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if w.link.expired() {
				_ = c.Close() // this ends the reader
				return
			}
			w.link.beat()
			w.checkScratch()
			w.link.tell(&wire.Heartbeat{Progress: w.progress()})
		case <-ctx.Done():
			_ = c.Close()
			return
		case <-over:
			return
		}
	}
}

// hear handles one message.
func (w *worker) hear(m wire.Message, epoch uint64) error {
	switch m := m.(type) {
	case *wire.HeartbeatAck:
		w.link.answered()
	case *wire.Job:
		w.learn(m)
	case *wire.Start:
		w.start(m, epoch)
	case wire.Join:
		w.join(&m)
	case wire.Leave:
		w.leaveGang(m)
	case wire.Kill:
		w.kill(m, epoch)
	case wire.Grant:
		w.tell(m.Attempt, func(a *attempt) { a.grant(m.Phase, m.Memory) })
	case wire.Commit:
		w.tell(m.Attempt, func(a *attempt) { a.permit(epoch, m.Except) })
	case wire.Ask:
		w.tell(m.Attempt, func(a *attempt) {
			if a.askFirst() {
				w.link.tell(wire.Asks{Attempt: a.id})
			}
		})
	case *wire.Ends:
		end := time.Now().Add(m.Left)
		w.ends.Store(&end)
	case wire.Locate:
		w.locate(m)
	case wire.Forget:
		w.forget(m.Job)
	case *wire.EndedAck:
		w.acknowledged(m.Attempt)
	case *wire.ReadOutput:
		go w.readOutput(m) // it waits for a file system
	case *wire.Sync:
		go w.sync(m.N) // it waits for a disk
	case *wire.Shutdown:
		return &shutdown{m.Reason}
	default:
		return fmt.Errorf("got %T, which no coordinator says", m)
	}
	return nil
}

// acknowledged removes an attempt whose end is recorded.
func (w *worker) acknowledged(at job.Attempt) {
	after := w.link.acknowledged(at)
	if after == nil {
		return
	}
	w.mu.Lock()
	if w.stopping == nil {
		w.attend.Go(after) // it waits for a file system
		after = nil
	}
	w.mu.Unlock()
	if after != nil {
		after()
	}
}

// sync writes outputs to the disk and reports it.
func (w *worker) sync(n int64) {
	m := &wire.Synced{N: n}
	syncAll := w.site.Durable.Sync
	if w.far() {
		syncAll = func() error { return w.cfg.Files.Sync(context.Background()) }
	}
	if err := syncAll(); err != nil {
		m.Error = process.OneLine(err.Error())
	}
	w.link.tell(m)
}

// readOutput answers with what a running task has printed.
func (w *worker) readOutput(m *wire.ReadOutput) {
	answer := &wire.Printed{N: m.N}
	w.tell(m.Attempt, func(a *attempt) {
		s, b := collect.Stdout, a.bag.Load()
		if m.Stderr {
			s = collect.Stderr
		}
		if b == nil {
			return
		}
		answer.Data = make([]byte, wire.MaxPrinted)
		n, err := b.ReadPrinted(s, answer.Data, m.Offset)
		if answer.Data = answer.Data[:n]; err != nil {
			answer.Error = process.OneLine(err.Error())
		}
	})
	w.link.tell(answer)
}

// learn stores a job that the coordinator sends. A job is sent again over a new connection, and with another
// spec after it was resumed; locations of map outputs and shipped files are kept. If a job is not valid, its
// attempts are refused when they are to be started.
func (w *worker) learn(m *wire.Job) {
	wk, err := newWork(m, w.scratch, w.far())
	if err != nil {
		w.log.Error("spec of a job makes no sense", "err", err)
		return
	}
	if wk.change != nil {
		for _, what := range wk.change.Refused {
			w.log.Warn("tasks do not get what the command had that submitted their job", "job", wk.spec.ID, "what", what)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.works[wk.spec.ID]
	switch {
	case old == nil:
	case bytes.Equal(old.specJSON, wk.specJSON):
		return
	default:
		wk.places, wk.ship, wk.collected = old.places, old.ship, cmp.Or(old.collected, wk.collected)
	}
	w.works[wk.spec.ID] = wk
}

// tell calls f for an attempt that runs here.
func (w *worker) tell(at job.Attempt, f func(*attempt)) {
	if a := w.attempt(at); a != nil {
		f(a)
	}
}

// locate adds the location of a map output. Attempts that could not fetch the output try the new location.
func (w *worker) locate(m wire.Locate) {
	w.mu.Lock()
	wk := w.works[m.Attempt.Job]
	w.mu.Unlock()
	if wk == nil {
		return
	}
	wk.places.Add(m)
	w.link.located(m.Attempt)
}
