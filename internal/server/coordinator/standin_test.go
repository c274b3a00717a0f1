package coordinator

import (
	"errors"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// TestNotOurs: a stand-in takes up the allocations of Slurm alone, and gives no number again.
func TestNotOurs(t *testing.T) {
	opts := options(t)
	opts.StandIn = true
	s := newServer(opts, leader.Choice{}, nil)
	node := event.NodeJoined{Node: "a1/0", Capacity: job.Resources{CPUs: 1}}
	for _, tt := range []struct {
		rec  event.Record
		left bool
	}{
		{event.AllocRequested{Alloc: "a1", Request: job.AllocRequest{On: "local"}}, true},
		{node, true},
		{event.NodeLost{Node: "a1/0"}, true},
		{event.AllocRequested{Alloc: "a2", Request: job.AllocRequest{On: "slurm"}}, false},
		{event.NodeJoined{Node: "a2/0"}, false},
		{event.AllocEnded{Alloc: "a2"}, false},
		{event.AllocEnded{Alloc: "a1"}, true},
	} {
		if got := s.isForeign(tt.rec); got != tt.left {
			t.Errorf("%T %+v: left alone %t", tt.rec, tt.rec, got)
		}
	}
	if len(s.foreign) != 0 {
		t.Errorf("left alone: %v", s.foreign)
	}
	s.opts.StandIn = false
	if s.isForeign(event.AllocRequested{Alloc: "a3", Request: job.AllocRequest{On: "local"}}) {
		t.Error("a coordinator that is no stand-in leaves something alone")
	}
}

// TestGuardIsThere: the place for a batch system can keep wake-up jobs, whatever driver stands behind it.
func TestGuardIsThere(t *testing.T) {
	s := newServer(options(t), leader.Choice{StandIn: leader.StandInOn}, nil)
	for _, p := range registry.Batches() {
		if err := s.addBackend(p); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.backends.driver(p.Name()).(driver.Batch); !ok {
			t.Errorf("%T keeps no wake-up job", s.backends.driver(p.Name()))
		}
	}
	s.guard() // there is no job
	if err := s.backends.close(callPatience, closePatience); err != nil {
		t.Error(err)
	}
}

// TestUnwanted: no stand-in begins that the user does not want; a coordinator that begins lifts that.
func TestUnwanted(t *testing.T) {
	opts := options(t)
	opts.StandIn = true
	if err := opts.begin(leader.Choice{StandIn: leader.StandInOff}); !errors.Is(err, ErrUnwanted) {
		t.Errorf("switched off: %v", err)
	}
	if err := leader.Of(opts.Home).Stop(); err != nil {
		t.Fatal(err)
	}
	if err := opts.begin(leader.Choice{StandIn: leader.StandInOn}); !errors.Is(err, ErrUnwanted) {
		t.Errorf("stopped: %v", err)
	}
	opts.StandIn = false
	if err := opts.begin(leader.Choice{}); err != nil || leader.Of(opts.Home).Stopped() {
		t.Errorf("a coordinator begins: %v, stopped %t", err, leader.Of(opts.Home).Stopped())
	}
}

// TestTakenOverLoop: a coordinator in whose place another is writes nothing any more, and its
// commands go on to the other.
func TestTakenOverLoop(t *testing.T) {
	opts := options(t)
	s := running(t, opts)
	if err := statedir.WriteJSON(opts.Home.Server()+"/owner", leader.Owner{ID: "other", Host: "elsewhere", PID: 1}); err != nil {
		t.Fatal(err)
	}
	<-s.own.Lost()
	records, err := s.journals.Append(0)
	if err != nil {
		t.Fatal(err)
	}
	err = s.call(func() error {
		s.round.records = append(s.round.records, event.AllocEnded{Alloc: "a1"})
		return nil
	})
	if !errors.Is(err, errStopped) {
		t.Errorf("a call is answered with %v", err)
	}
	<-s.stopped
	if after, _ := s.journals.Append(0); after != records {
		t.Errorf("%d records were written", after-records)
	}
}

// TestParseTime: how long workers wait is a time.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"": DefaultStandInAfter, "2s": 2 * time.Second} {
		if got, err := ParseTime("X", text, DefaultStandInAfter); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0s", "-1s", "soon", "5"} {
		if _, err := ParseTime("X", text, DefaultStandInAfter); job.ClassOf(err) != job.User {
			t.Errorf("%q: %v", text, err)
		}
	}
}
