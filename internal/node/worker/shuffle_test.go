package worker

import (
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/wire"
)

// Connections that say nothing do not use up the worker's descriptors: its tasks run, its map
// outputs are served.
func TestSilentConnectionsToTheShuffle(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	few := unix.Rlimit{Cur: 400, Max: 400}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 * few.Max {
		silent, err := net.Dial("tcp", p.hello.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = silent.Close() }()
	}
	b, err := wire.LoadBundle(cfg.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	if err := fetchWith(t, b.Identity, p.hello.Addr); !errors.Is(err, shuffle.ErrNotHeld) {
		t.Errorf("asked beside the silent ones: %v", err) // it was accepted after all of them
	}
	s := bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done)
}

// A worker without a free descriptor blames neither task nor machine, and tries again.
func TestNoFreeDescriptor(t *testing.T) {
	c := newCoord(t)
	p, cmd := c.process(c.config("a1/0"))
	s := bag(t, "true")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done) // now the worker has what it needs for itself
	var old unix.Rlimit
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		t.Helper()
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: old.Max}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(3)
	p.say(start(try(s.ID, 1, 1)))
	if m := p.ended(event.Lost); !strings.Contains(m.Reason, "ulimit -n") {
		t.Errorf("reason is %q", m.Reason)
	}
	p.say(start(try(s.ID, 1, 100)))
	p.ended(event.Failed) // it may be the task that needs too many
	limit(old.Cur)
	p.say(start(try(s.ID, 1, 101)))
	p.ended(event.Done)
}
