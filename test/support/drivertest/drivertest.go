// Package drivertest is the conformance suite of drivers. It tests everything that the coordinator
// requires of a driver, for any backend. Workers are real processes that use the real protocol with
// the suite. A driver's test calls Run.
package drivertest

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// Backend describes the backend of the driver under test.
type Backend struct {
	Name     string        // its name for --on
	Node     job.Resources // an amount of resources that fits a node twice
	WallTime time.Duration // the shortest wall time that can be requested
	Patience time.Duration // limit for each wait of the suite; 0: three minutes

	// Batch backends have a queue: they report the start and the end time of an allocation. They
	// restart workers without the driver, so that the coordinator detects the death of a worker.
	Batch bool

	Here   bool // workers are on this machine: what their tasks have started may outlive them, until the next worker has killed it
	Rented bool // its workers do not reach each other, and run no gangs

	Listen string // the address of this machine that the nodes reach; empty: 127.0.0.1
}

// Setup is the environment of a new driver.
type Setup struct {
	Dir    string // the driver's own folder, the same for every driver of a bench
	Issue  func(node job.NodeID, path string) error
	Report driver.Reporter
}

// Make creates a driver. A second driver with the same Dir represents the driver of a coordinator
// that follows one that died.
type Make func(t *testing.T, s Setup) driver.Driver

// Run runs the suite.
func Run(t *testing.T, backend Backend, make Make) {
	if backend.Patience == 0 {
		backend.Patience = 3 * time.Minute
	}
	for _, test := range []struct {
		name string
		run  func(*bench)
	}{
		{"workers start and end with the allocation", testLife},
		{"a worker that dies is replaced on its rank", testDeath},
		{"a later driver adopts living workers and replaces dead ones", testAdopt},
		{"a later driver adopts a waiting allocation", testAdoptEarly},
		{"the wall time ends the allocation", testWallTime},
		{"two allocations do not affect each other", testTwo},
		{"keys are the user's own", testPrivate},
		{"Release and Clear remove all files", testClear},
		{"releasing and clearing an unknown allocation is no error", testNothing},
		{"a snapshot has nodes that can run a worker", testSnapshot},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(newBench(t, backend, make))
		})
	}
}

// bench is a minimal coordinator: it listens for workers and records reports.
type bench struct {
	t        *testing.T
	backend  Backend
	make     Make
	setup    Setup
	driver   driver.Driver
	allocs   []job.AllocID // the requested allocations
	reports  chan step.Input
	listener *wire.Listener
	workers  chan connected
}

// connected is a worker that has sent its hello.
type connected struct {
	hello *wire.Hello
	conn  *wire.Conn
}

func newBench(t *testing.T, backend Backend, make_ Make) *bench {
	t.Helper()
	dir := t.TempDir()
	ca, err := wire.GenerateCA(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.IssueCoordinator()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, backend: backend, make: make_, reports: make(chan step.Input, 100), workers: make(chan connected, 100)}
	b.listener, err = wire.Listen(cmp.Or(backend.Listen, "127.0.0.1")+":0", id, func(from net.Addr, err error) { t.Logf("refused %v: %v", from, err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.listener.Close() })
	go b.accept()
	b.setup = Setup{Dir: filepath.Join(dir, "allocs"), Report: func(in step.Input) { b.reports <- in },
		Issue: func(node job.NodeID, path string) error {
			id, err := ca.IssueWorker(node)
			if err != nil {
				return err
			}
			return wire.WriteBundle(path, []string{b.listener.Addr().String()}, id)
		}}
	b.driver = make_(t, b.setup)
	t.Cleanup(b.tearDown)
	return b
}

// tearDown releases and clears all allocations, and waits until the driver's folder is empty, because
// the test's folder cannot be removed while workers write to it.
func (b *bench) tearDown() {
	for _, id := range b.allocs {
		if err := errors.Join(b.driver.Release(context.Background(), id), b.driver.Clear(context.Background(), id)); err != nil {
			b.t.Errorf("allocation %s: %v", id, err)
		}
	}
	b.empty()
	if err := b.driver.Close(); err != nil {
		b.t.Error(err)
	}
}

// empty waits until the driver's folder is empty.
func (b *bench) empty() {
	b.t.Helper()
	for end := time.Now().Add(b.backend.Patience); ; time.Sleep(20 * time.Millisecond) {
		left, err := os.ReadDir(b.setup.Dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			b.t.Errorf("the driver's folder keeps %v (%v)", left, err)
			return
		}
	}
}

func (b *bench) accept() {
	for {
		conn, hello, err := b.listener.Accept()
		if err != nil {
			return
		}
		if err := conn.Send(&wire.Welcome{Heartbeat: time.Second, Lease: time.Minute}); err == nil {
			b.workers <- connected{hello, conn}
		}
	}
}

// request requests an allocation, which is released when the test ends.
func (b *bench) request(id job.AllocID, req job.AllocRequest) {
	b.t.Helper()
	b.allocs = append(b.allocs, id)
	if err := b.driver.Request(b.t.Context(), id, req); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) release(id job.AllocID) {
	b.t.Helper()
	if err := b.driver.Release(b.t.Context(), id); err != nil {
		b.t.Fatal(err)
	}
}

// joined waits for the next n workers, by node.
func (b *bench) joined(n int) map[job.NodeID]connected {
	b.t.Helper()
	got := map[job.NodeID]connected{}
	for len(got) < n {
		select {
		case w := <-b.workers:
			got[w.hello.Node] = w
		case <-time.After(b.backend.Patience):
			b.t.Fatalf("%d workers came up, want %d", len(got), n)
		}
	}
	return got
}

// replaced waits for the worker that replaces a dead one. Other workers may send another hello
// meanwhile, because connections may break on a busy machine.
func (b *bench) replaced(dead connected) connected {
	b.t.Helper()
	for give := time.After(b.backend.Patience); ; {
		select {
		case w := <-b.workers:
			if w.hello.Node == dead.hello.Node && w.hello.PID != dead.hello.PID {
				return w
			}
		case <-give:
			b.t.Fatalf("the worker of %s was not replaced", dead.hello.Node)
		}
	}
}

// reported waits for a report of type T. It skips notes, and for batch backends reports that an
// allocation began, unless T is their type.
func reported[T step.Input](b *bench) T {
	b.t.Helper()
	for {
		select {
		case in := <-b.reports:
			if want, ok := in.(T); ok {
				return want
			}
			switch in.(type) {
			case step.AllocNote:
			case step.AllocUp:
				if !b.backend.Batch {
					b.t.Fatalf("reported %+v", in)
				}
			default:
				b.t.Fatalf("reported %T %+v, want a %T", in, in, *new(T))
			}
		case <-time.After(b.backend.Patience):
			b.t.Fatalf("no %T was reported", *new(T))
		}
	}
}

// died waits for the report of a worker's death, if the driver can detect it. A worker that died
// before may be reported first, because the holder of a worker on another machine detects its end
// later.
func (b *bench) died(node job.NodeID, before ...job.NodeID) {
	b.t.Helper()
	if b.backend.Batch {
		return
	}
	down := reported[step.NodeDown](b)
	for slices.Contains(before, down.Node) {
		down = reported[step.NodeDown](b)
	}
	if down.Node != node || down.Dead == b.backend.Here {
		b.t.Errorf("reported %+v, want the death of %s", down, node)
	}
}

// gone waits until a worker's connection ends, which happens when its process ends.
func (b *bench) gone(w connected) {
	b.t.Helper()
	if err := w.conn.SetReadDeadline(time.Now().Add(b.backend.Patience)); err != nil {
		b.t.Fatal(err)
	}
	for {
		_, err := w.conn.Recv()
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			b.t.Fatalf("the worker of %s is still connected", w.hello.Node)
		}
		if err != nil {
			return
		}
	}
}

// shape returns a request for nodes without a wall time.
func (b *bench) shape(nodes int) job.AllocRequest {
	return job.AllocRequest{On: b.backend.Name, Nodes: nodes, PerNode: b.backend.Node, Scratch: b.t.TempDir(), SortMemory: 64 << 20}
}

// kill kills a worker's process on this machine, and waits until the process has ended, which is
// later than the end of its connection.
func (b *bench) kill(w connected) {
	b.t.Helper()
	fd, err := unix.PidfdOpen(w.hello.PID, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		b.t.Fatal(err)
	}
	if ended, err := probe.AwaitExit(fd, b.backend.Patience); err != nil || !ended {
		b.t.Fatalf("the worker of %s did not end (%v)", w.hello.Node, err)
	}
	b.gone(w)
}

// succeed replaces the driver by a later one, as after the death of a coordinator.
func (b *bench) succeed() {
	b.t.Helper()
	if err := b.driver.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.driver = b.make(b.t, b.setup)
}
