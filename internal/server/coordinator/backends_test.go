package coordinator

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// heldDriver is one whose requests wait until they are let go, whatever their context says, as
// one does that hangs on a dead file system.
type heldDriver struct {
	driver.Driver // panics if anything else is called
	letGo         chan struct{}

	mu   sync.Mutex
	made []job.AllocID
}

func (d *heldDriver) Request(_ context.Context, id job.AllocID, _ job.AllocRequest) error {
	<-d.letGo
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made = append(d.made, id)
	return nil
}

func (d *heldDriver) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	return cluster.Snapshot{}, nil
}

func (d *heldDriver) Close() error { return nil }

// TestHangingDriver: a driver that hangs keeps waiting neither the loop nor another place, nor the
// coordinator's end; and its calls are made in their order once it goes on.
func TestHangingDriver(t *testing.T) {
	h := statedir.Home{Dir: t.TempDir()}
	s := newServer(Options{Home: h, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	hung, fine := &heldDriver{letGo: make(chan struct{})}, &heldDriver{letGo: make(chan struct{})}
	close(fine.letGo)
	s.backends.add("hung", hung)
	s.backends.add("fine", fine)
	var want []job.AllocID
	for i := range 3000 { // more than any queue of the coordinator holds
		id := job.AllocID("a" + string(rune('0'+i%10)))
		want = append(want, id)
		s.Request(step.Request{Alloc: id, Request: job.AllocRequest{On: "hung"}})
	}
	s.Request(step.Request{Alloc: "b1", Request: job.AllocRequest{On: "fine"}})
	made := make(chan struct{})
	s.backends.call("fine", func(context.Context, driver.Driver) { close(made) })
	<-made
	if !slices.Equal(fine.made, []job.AllocID{"b1"}) {
		t.Errorf("the other backend was asked for %v", fine.made)
	}
	if err := s.backends.close(time.Millisecond, time.Minute); err == nil || !strings.Contains(err.Error(), "calls of drivers did not return") {
		t.Errorf("the end of the coordinator: %v", err)
	}
	close(hung.letGo)
	s.backends.active.Wait()
	if !slices.Equal(hung.made, want) {
		t.Errorf("%d calls of the place that hung were made, want %d in their order", len(hung.made), len(want))
	}
}

// TestNoDriver: a place that nobody added has no driver, and takes no calls.
func TestNoDriver(t *testing.T) {
	s := newServer(Options{Home: statedir.Home{Dir: t.TempDir()}, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	if s.backends.call("mars", nil) || s.backends.driver("mars") != nil {
		t.Error("there is a place that nobody added")
	}
	if err := s.backends.close(time.Minute, time.Minute); err != nil {
		t.Error(err)
	}
}

// lookedAt is a driver that notes which allocations it is to look at.
type lookedAt struct {
	driver.Batch
	allocs chan job.AllocID
}

func (d lookedAt) Look(id job.AllocID) { d.allocs <- id }
func (d lookedAt) Close() error        { return nil }

// replacing is a driver that notes which workers it is to replace.
type replacing struct {
	driver.Driver
	nodes chan job.NodeID
}

func (d replacing) Replace(node job.NodeID) { d.nodes <- node }
func (d replacing) Close() error            { return nil }

// TestGivenUp: the driver is asked for another worker once a node is given up, and not while it may come back.
func TestGivenUp(t *testing.T) {
	s := newServer(Options{Home: statedir.Home{Dir: t.TempDir()}, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	d := replacing{nodes: make(chan job.NodeID, 9)}
	s.backends.add("here", d)
	s.backends.add("batch", lookedAt{}) // cannot replace workers
	s.shapes["a1"], s.shapes["a2"] = job.AllocRequest{On: "here"}, job.AllocRequest{On: "batch"}
	for _, lost := range []event.NodeLost{{Node: "a1/0"}, {Node: "a1/1", Gone: true}, {Node: "a2/0", Gone: true}, {Node: "a3/0", Gone: true}} {
		s.observe(event.Entry{Record: lost})
	}
	if err := s.backends.close(time.Minute, time.Minute); err != nil {
		t.Error(err)
	}
	if len(d.nodes) != 1 || <-d.nodes != "a1/1" {
		t.Error("other workers are replaced than the one that was given up")
	}
}

// TestWorkerGone: when a worker of a batch system has gone, its driver looks at once what became of the allocation.
func TestWorkerGone(t *testing.T) {
	s := newServer(Options{Home: statedir.Home{Dir: t.TempDir()}, Log: slog.New(slog.DiscardHandler)}, leader.Choice{}, func() {})
	d := lookedAt{allocs: make(chan job.AllocID, 9)}
	s.backends.add("batch", d)
	s.shapes["a1"] = job.AllocRequest{On: "batch", Elastic: true}
	s.shapes["a2"] = job.AllocRequest{On: "batch"}
	for _, node := range []job.NodeID{"a2/0", "a3/0", "a1/0"} {
		ses := &session{node: node}
		s.sessions[node] = ses
		s.leave(ses, nil)
	}
	if err := s.backends.close(time.Minute, time.Minute); err != nil {
		t.Error(err)
	}
	if close(d.allocs); len(d.allocs) != 1 || <-d.allocs != "a1" {
		t.Error("the driver was not told of the allocation whose worker has gone, or of others")
	}
}
