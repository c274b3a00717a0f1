package worker

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// retires waits for the worker's word that it is about to end.
func (p *peer) retires() {
	p.c.t.Helper()
	if m := expect[*wire.Retiring](p); m.Reason == "" {
		p.c.t.Error("it does not say why")
	}
}

// exited waits for the worker's process, which has to end well.
func exitsWell(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

// A worker that gets SIGTERM says so before anything else, then how its attempts ended,
// and goes when that is acknowledged; what was to be started meanwhile is lost, too.
func TestRetire(t *testing.T) {
	c := newCoord(t)
	p, cmd := c.process(c.config("a1/0"))
	s := shell(t, `trap 'echo > asked; read x < goon; exit 0' TERM; echo > ready; while :; do sleep 0.1; done`)
	ready, asked, goOn := fifo(t, s.Dir, "ready"), fifo(t, s.Dir, "asked"), fifo(t, s.Dir, "goon")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	hear(t, ready)
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.retires()
	hear(t, asked)
	p.say(start(try(s.ID, 1, 1)))
	if m := p.ended(event.Lost); m.Attempt.Task != 1 {
		t.Errorf("%v ended first", m.Attempt)
	}
	release(t, goOn)
	if m := p.ended(event.Lost); m.Attempt.Task != 0 || !strings.Contains(m.Reason, "worker ended") {
		t.Errorf("%v ended: %s", m.Attempt, m.Reason)
	}
	exitsWell(t, cmd)
	p.gone()
}

// A batch system signals the tasks, too, and those may die before the worker knows: they
// are lost, not failed, whether a signal ended them or they say so in their status.
func TestSignalledBeforeTheWorker(t *testing.T) {
	for _, trap := range []string{"", "trap 'exit 143' TERM; "} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		cfg.Token = "a batch system runs the node"
		p, cmd := c.process(cfg)
		s := shell(t, trap+`echo $$ > pid; while :; do sleep 0.1; done`)
		pid := fifo(t, s.Dir, "pid")
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		var leader int
		if _, err := fmt.Sscan(hear(t, pid), &leader); err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(-leader, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if trap == "" { // a status is doubted for a moment only: signals to one node are sent almost at the same time
			awaitDeath(t, leader)
		}
		if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.retires()
		p.ended(event.Lost)
		exitsWell(t, cmd)
	}
}

// The same for a mapper whose exit status is of no interest: half an output is no success.
func TestSignalledMapper(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Token = "a batch system runs the node"
	p, cmd := c.process(cfg)
	s := streaming(t, fruit, nil, nil)
	pid := fifo(t, s.Dir, "pid")
	s.MapReduce.Mapper.Args = []string{"sh", "-c", "head -n 1; echo $$ > " + pid + "; while :; do sleep 0.1; done"}
	s.MapReduce.NonZeroExitIsFail = false
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	var leader int
	if _, err := fmt.Sscan(hear(t, pid), &leader); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(-leader, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, leader)
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.retires()
	p.ended(event.Lost)
	exitsWell(t, cmd)
}

// A task that is killed while its worker lives on has failed, as one that takes too much
// memory does.
func TestKilledForMemory(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `kill -KILL $$`)
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if m := p.ended(event.Failed); m.Signal != int(unix.SIGKILL) {
		t.Errorf("ended %+v", m)
	}
}

// A worker that is apart from its coordinator when it is told to end waits for the next
// one for a while, so that what is done is not done again.
func TestRetireApart(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	s := shell(t, `echo > ready; read x < goon; touch done; sleep 0.01`)
	ready, goOn := fifo(t, s.Dir, "ready"), fifo(t, s.Dir, "goon")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	hear(t, ready)
	release(t, goOn)
	if m := expect[wire.Ended](p); m.Outcome != event.Done { // and not acknowledged
		t.Fatalf("ended %+v", m)
	}
	_, _ = c.ln.Close(), p.conn.Close()
	c.listen()
	c.bundle(cfg)
	p = c.greeted()
	if !slices.Equal(p.hello.Running, []job.Attempt{try(s.ID, 0, 1)}) {
		t.Errorf("hello names %v", p.hello.Running)
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil { // while nobody has taken it in
		t.Fatal(err)
	}
	p.welcome()
	for m := range p.got { // it may be taken in before it gets the signal
		if e, ok := m.(wire.Ended); ok {
			if e.Outcome != event.Done {
				t.Errorf("ended %+v", e)
			}
			p.say(&wire.EndedAck{Attempt: e.Attempt})
		}
	}
	exitsWell(t, cmd)
}
