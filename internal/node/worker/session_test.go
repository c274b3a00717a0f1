package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// The end of an attempt is told over and over until it is acknowledged.
func TestUnacknowledgedEndsAreToldAgain(t *testing.T) {
	c, p := startWorker(t)
	s := bag(t, "true")
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at))
	first := expect[wire.Ended](p)
	_ = p.conn.Close()

	p = c.welcome()
	if len(p.hello.Running) != 1 || p.hello.Running[0] != at {
		t.Errorf("hello names %v as running, want %v", p.hello.Running, at)
	}
	if again := p.ended(event.Done); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("told\n%+v, then\n%+v", first, again)
	}
	p.say(wire.Kill{Attempt: at}) // answered behind the acknowledgement, so that has been taken
	p.ended(event.Killed)
	_ = p.conn.Close()

	if p = c.welcome(); len(p.hello.Running) != 0 {
		t.Errorf("hello still names %v", p.hello.Running)
	}
}

// Tasks go on while there is no coordinator, and the next one, which listens
// elsewhere, learns of them.
func TestWorkerOutlivesItsCoordinator(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, _ := c.worker(cfg)
	s := shell(t, `echo > ready; read x < go; echo done`)
	ready, goOn := fifo(t, s.Dir, "ready"), fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at))
	hear(t, ready)
	_, _ = c.ln.Close(), p.conn.Close()

	c.listen()
	c.bundle(cfg)
	p = c.welcome()
	if len(p.hello.Running) != 1 || p.hello.Running[0] != at {
		t.Fatalf("hello names %v as running, want %v", p.hello.Running, at)
	}
	p.say(start(at)) // told twice: it runs already
	release(t, goOn)
	if m := expect[wire.CommitWanted](p); m.Attempt != at {
		t.Errorf("%v wants to commit", m.Attempt)
	}
	out := filepath.Join(s.Dir, "bag-1", "1.stdout")
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("output is in place without permission (%v)", err)
	}
	_ = p.conn.Close() // the wish is repeated
	p = c.welcome()
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: at})
	p.ended(event.Done)
	if got := read(t, out); got != "done\n" {
		t.Errorf("output is %q", got)
	}
}

// A coordinator that does not answer heartbeats is left, and with it permission to commit.
func TestLeaseEnds(t *testing.T) {
	c, p := startWorker(t)
	s := shell(t, `echo > ready; read x < go`)
	ready, goOn := fifo(t, s.Dir, "ready"), fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at))
	hear(t, ready)
	c.silent.Store(true)
	_ = p.conn.Close()
	c.lease = 50 * time.Millisecond
	p = c.welcome()
	_ = p.conn.Send(wire.Commit{Attempt: at}) // on a busy machine it has hung up by now
	p.gone()
	c.silent.Store(false)
	c.lease = time.Minute
	p = c.welcome()
	release(t, goOn)
	for ended := false; !ended; {
		switch m := expect[wire.Message](p).(type) {
		case wire.CommitWanted: // wished for twice where the void permission is found while it waits
			p.say(wire.Kill{Attempt: at, Reason: "another was first"})
		case wire.Ended:
			if ended = true; m.Outcome != event.Killed {
				t.Errorf("ended %+v", m)
			}
		default:
			t.Fatalf("got %T", m)
		}
	}
	names(t, filepath.Join(s.Dir, "bag-1"))
}

// startParent has the worker start a task whose program has a child, and returns the spec of its job and the child's process id.
func (p *peer) startParent(t *testing.T) (s *job.Spec, child int) {
	t.Helper()
	s = shell(t, `sleep 1000 & echo $! > pid; wait`)
	pid := fifo(t, s.Dir, "pid")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if _, err := fmt.Sscan(hear(t, pid), &child); err != nil {
		t.Fatal(err)
	}
	return s, child
}

func TestShutdownEndsAll(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, end := c.worker(cfg)
	s, child := p.startParent(t)
	p.say(&wire.Shutdown{Reason: "all is done"})
	p.gone()
	if err := end(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	awaitDeath(t, child)
	names(t, cfg.Scratch)
	names(t, filepath.Join(s.Dir, "bag-1"))
}

func TestOrphanGivesUp(t *testing.T) {
	t.Parallel() // it is idle for long
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.MaxOrphan = 10 * time.Second // long enough for a welcome on a busy machine
	p, end := c.worker(cfg)
	s := shell(t, `echo $$ > pid; sleep 1000`)
	pid := fifo(t, s.Dir, "pid")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	var leader int
	if _, err := fmt.Sscan(hear(t, pid), &leader); err != nil {
		t.Fatal(err)
	}
	_, _ = c.ln.Close(), p.conn.Close()
	awaitDeath(t, leader)
	if err := end(); !errors.Is(err, errOrphan) {
		t.Errorf("Run returned %v, want %v", err, errOrphan)
	}
}

// A worker whose bundle is gone has no allocation any more: it clears up behind itself.
func TestBundleRemoved(t *testing.T) {
	t.Parallel() // it is idle for long
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.MaxOrphan = 10 * time.Second // long enough for a welcome on a busy machine
	p, cmd := c.process(cfg)
	if err := os.Remove(cfg.Bundle); err != nil {
		t.Fatal(err)
	}
	_, _ = c.ln.Close(), p.conn.Close()
	awaitDeath(t, cmd.Process.Pid)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	names(t, cfg.Scratch)
}

// kill -9 of a worker takes the processes it started with it; what those started
// is found and killed by the worker that takes its place.
func TestKilledWorkersTasksDie(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	s := shell(t, `sleep 1000 & echo $$ $! > pids; wait`)
	pids := fifo(t, s.Dir, "pids")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	var leader, child int
	if _, err := fmt.Sscan(hear(t, pids), &leader, &child); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, leader)
	if err := unix.Kill(child, 0); err != nil {
		t.Fatalf("the child of the task died by itself (%v): the test shows nothing", err)
	}
	p, _ = c.process(cfg)
	awaitDeath(t, child)
	if len(p.hello.Running) != 0 {
		t.Errorf("hello names %v as running", p.hello.Running)
	}
}

// They die as well if no worker takes its place, as each worker has a guard. One that ends in order takes its guard with it.
func TestGuard(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.SweepCommand = []string{"/usr/bin/env", asSweep + "=1", os.Args[0]}
	p, cmd := c.process(cfg)
	s := shell(t, `sleep 1000 & setsid env -i sleep 1000 & echo $! > pid; wait`)
	pid := fifo(t, s.Dir, "pid")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	var child int
	if _, err := fmt.Sscan(hear(t, pid), &child); err != nil {
		t.Fatal(err)
	}
	for noted := false; !noted; { // the cookie does not identify it
		locks, _ := filepath.Glob(filepath.Join(cfg.Scratch, "*", "lock"))
		noted = strings.Contains(read(t, locks[0]), fmt.Sprintf("%d:", child))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, child)

	swept := fifo(t, c.dir, "swept")
	cfg.SweepCommand = []string{"/bin/sh", "-c", ""}
	for _, dismissed := range []bool{true, false} {
		cfg.SweepCommand[2] = fmt.Sprintf(`echo %t > '%s'`, dismissed, swept)
		if g := newGuard(cfg, c.dir); dismissed {
			g.dismiss()
		} else {
			_ = g.line.Close()
		}
	}
	if got := hear(t, swept); got != "false\n" {
		t.Errorf("swept %q", got)
	}
}

// A worker that hangs is replaced: the one that takes its place kills it.
func TestHangingWorkerIsEvicted(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	_, first := c.process(cfg)
	if err := first.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p, second := c.process(cfg)
	awaitDeath(t, first.Process.Pid)
	if p.hello.PID != second.Process.Pid {
		t.Errorf("hello is from %d, want %d", p.hello.PID, second.Process.Pid)
	}
}

func TestSIGTERM(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	s := shell(t, `echo $$ > pid; sleep 1000`)
	pid := fifo(t, s.Dir, "pid")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	var leader int
	if _, err := fmt.Sscan(hear(t, pid), &leader); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	awaitDeath(t, leader)
	names(t, cfg.Scratch)
}

// An attempt whose job was never told breaks, and the worker lives.
func TestStartOfUnknownJob(t *testing.T) {
	_, p := startWorker(t)
	p.say(start(try("bag-9", 0, 1)))
	p.ended(event.Broken)
	p.say(&wire.Job{Spec: []byte(`{"id":"bag-9","kind":"bag"}`)})
	p.say(start(try("bag-9", 0, 2)))
	p.ended(event.Broken)
}

func TestForgetKillsAndRemoves(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo > ready; sleep 1000`)
	ready := fifo(t, s.Dir, "ready")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	hear(t, ready)
	p.say(wire.Forget{Job: s.ID})
	p.ended(event.Killed)
	p.say(start(try(s.ID, 0, 2)))
	p.ended(event.Broken) // it is unknown now
}

func TestScratchOfOthersIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a folder of another user's")
	}
	c := newCoord(t)
	cfg := c.config("a1/0")
	if err := os.Mkdir(cfg.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(cfg.Scratch, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), cfg)
	if job.ClassOf(err) != job.User {
		t.Errorf("Run returned %v, want an error of the user's", err)
	}
}

// However long it takes to look through the map outputs, no connection waits for it: its other
// end would hang up, and that again and again.
func TestOutputsAreLookedThroughBeforeTheDial(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	full, err := cfg.normalize()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openScratch(full)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.outputs(), "mr-1")
	s.close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first, second := fifo(t, dir, "0.1"), fifo(t, dir, "0.2") // whoever opens one to read waits for who writes
	ran := make(chan error, 1)
	go func() { ran <- Run(t.Context(), cfg) }()
	t.Cleanup(func() { <-ran }) // the test's context is over by then
	opened := func(path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // returns when the worker opens it
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	opened(first)
	tcp, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	port := c.ln.Addr().(*net.TCPAddr).Port
	if to := fmt.Sprintf(" 0100007F:%04X 01 ", port); strings.Contains(string(tcp), to) { // remote address, established
		t.Error("the worker connected before it knew what it holds")
	}
	opened(second)
	if p := c.welcome(); len(p.hello.Held) != 0 {
		t.Errorf("it holds %v", p.hello.Held)
	}
}
