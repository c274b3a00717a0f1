// Package drivertest is the conformance suite of drivers: what the coordinator
// relies on, whoever gives the nodes. Workers are real processes and speak the
// real protocol to the suite.
package drivertest

import (
	"context"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"berth/internal/driver"
	"berth/internal/engine"
	"berth/internal/job"
	"berth/internal/wire"
)

// patience is how long the suite waits for what must happen.
const patience = time.Minute

// Setup is what a driver is made with.
type Setup struct {
	Dir    string // the driver's own folder, the same for every driver of a Bench
	Issue  func(node job.NodeID, path string) error
	Report driver.Reporter
}

// Make makes a driver; a second one with the same Dir stands for the driver of a
// coordinator that comes after one that died.
type Make func(t *testing.T, s Setup) driver.Driver

// Run runs the suite. node is a node's share that two of fit at once.
func Run(t *testing.T, node job.Resources, make Make) {
	t.Run("workers come up and go with the allocation", func(t *testing.T) { testLife(t, node, make) })
	t.Run("a worker that dies is reported, then replaced", func(t *testing.T) { testDeath(t, node, make) })
	t.Run("a later driver adopts what lives and replaces what died", func(t *testing.T) { testAdopt(t, node, make) })
	t.Run("the wall time ends the allocation", func(t *testing.T) { testWallTime(t, node, make) })
	t.Run("releasing what is not there does no harm", func(t *testing.T) {
		b := newBench(t, make)
		if err := b.driver.Release(t.Context(), "a99"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a snapshot has nodes that a node's share fits", func(t *testing.T) {
		b := newBench(t, make)
		snap, err := b.driver.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if snap.Driver != b.driver.Name() || len(snap.Nodes) == 0 || !node.Fits(snap.Capacity()) {
			t.Errorf("snapshot %+v", snap)
		}
	})
}

// bench is a coordinator in so far as a driver needs one: it listens for workers and notes what is reported.
type bench struct {
	t        *testing.T
	make     Make
	setup    Setup
	driver   driver.Driver
	reports  chan engine.Input
	listener *wire.Listener
	workers  chan worker
}

// worker is one that has said hello.
type worker struct {
	hello *wire.Hello
	conn  *wire.Conn
}

func newBench(t *testing.T, make_ Make) *bench {
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
	b := &bench{t: t, make: make_, reports: make(chan engine.Input, 100), workers: make(chan worker, 100)}
	b.listener, err = wire.Listen("127.0.0.1:0", id, func(from net.Addr, err error) { t.Logf("refused %v: %v", from, err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.listener.Close() })
	go b.accept()
	b.setup = Setup{Dir: filepath.Join(dir, "allocs"), Report: func(in engine.Input) { b.reports <- in },
		Issue: func(node job.NodeID, path string) error {
			id, err := ca.IssueWorker(node)
			if err != nil {
				return err
			}
			return wire.WriteBundle(path, []string{b.listener.Addr().String()}, id)
		}}
	b.driver = make_(t, b.setup)
	return b
}

func (b *bench) accept() {
	for {
		conn, hello, err := b.listener.Accept()
		if err != nil {
			return
		}
		if err := conn.Send(&wire.Welcome{Heartbeat: time.Second, Lease: patience}); err == nil {
			b.workers <- worker{hello, conn}
		}
	}
}

// request asks for an allocation that is released when the test ends.
func (b *bench) request(id job.AllocID, req job.AllocRequest) {
	b.t.Helper()
	if err := b.driver.Request(b.t.Context(), id, req); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = b.driver.Release(context.Background(), id) })
}

// joined waits for the next n workers, by node.
func (b *bench) joined(n int) map[job.NodeID]worker {
	b.t.Helper()
	got := map[job.NodeID]worker{}
	for len(got) < n {
		select {
		case w := <-b.workers:
			got[w.hello.Node] = w
		case <-time.After(patience):
			b.t.Fatalf("%d workers came up, want %d", len(got), n)
		}
	}
	return got
}

func (b *bench) reported() engine.Input {
	b.t.Helper()
	select {
	case in := <-b.reports:
		return in
	case <-time.After(patience):
		b.t.Fatal("nothing was reported")
		return nil
	}
}

// gone waits until a worker's connection ends, as it does when its process is gone.
func (b *bench) gone(w worker) {
	b.t.Helper()
	if err := w.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		b.t.Fatal(err)
	}
	for {
		_, err := w.conn.Recv()
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			b.t.Fatalf("the worker of %s is still there", w.hello.Node)
		}
		if err != nil {
			return
		}
	}
}

func shape(b *bench, node job.Resources, nodes int) job.AllocRequest {
	return job.AllocRequest{On: b.driver.Name(), Nodes: nodes, PerNode: node, Scratch: b.t.TempDir(), SortMemory: 64 << 20}
}

func testLife(t *testing.T, node job.Resources, make Make) {
	b := newBench(t, make)
	b.request("a1", shape(b, node, 2))
	up := b.joined(2)
	for rank := range 2 {
		w, ok := up[job.AllocID("a1").Node(rank)]
		if !ok || w.hello.Capacity != node {
			t.Errorf("rank %d: %+v", rank, w.hello)
		}
	}
	if err := b.driver.Release(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
	for _, w := range up {
		b.gone(w)
	}
}

func testDeath(t *testing.T, node job.Resources, make Make) {
	b := newBench(t, make)
	b.request("a1", shape(b, node, 1))
	first := b.joined(1)["a1/0"]
	if err := syscall.Kill(first.hello.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if down, ok := b.reported().(engine.NodeDown); !ok || down.Node != "a1/0" || !down.Dead {
		t.Errorf("reported %+v", down)
	}
	if second := b.joined(1)["a1/0"]; second.hello == nil || second.hello.PID == first.hello.PID {
		t.Errorf("the worker was not replaced: %+v", second.hello)
	}
}

func testAdopt(t *testing.T, node job.Resources, make Make) {
	b := newBench(t, make)
	req := shape(b, node, 2)
	b.request("a1", req)
	up := b.joined(2)
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}
	dead, lives := up["a1/0"], up["a1/1"]
	if err := syscall.Kill(dead.hello.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.gone(dead)

	b.driver = b.make(t, b.setup)
	if err := b.driver.Adopt(t.Context(), "a1", req); err != nil {
		t.Fatal(err)
	}
	if w := b.joined(1)["a1/0"]; w.hello == nil || w.hello.PID == dead.hello.PID {
		t.Errorf("the dead worker was not replaced: %+v", w.hello)
	}
	if err := syscall.Kill(lives.hello.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if down, ok := b.reported().(engine.NodeDown); !ok || down.Node != "a1/1" || !down.Dead {
		t.Errorf("the adopted worker's death: %+v", down)
	}
	b.joined(1)
	if err := b.driver.Release(t.Context(), "a1"); err != nil {
		t.Fatal(err)
	}
}

func testWallTime(t *testing.T, node job.Resources, make Make) {
	b := newBench(t, make)
	req := shape(b, node, 1)
	req.Time = time.Second
	b.request("a1", req)
	w := b.joined(1)["a1/0"]
	if down, ok := b.reported().(engine.AllocDown); !ok || down.Alloc != "a1" || down.Reason == "" {
		t.Errorf("reported %+v", down)
	}
	b.gone(w)
}
