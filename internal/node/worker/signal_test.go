package worker

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/wire"
)

// TestSignalBeforeTheEnd: a program gets its signal before the end of the allocation, also if that comes nearer while it runs. It asks
// for another attempt, and what it printed and left is put into place.
func TestSignalBeforeTheEnd(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `trap 'echo kept >> state; exit 85' USR1; echo now; cat ready > /dev/null; while :; do sleep 0.01; done`)
	s.Bag.Signal, s.Bag.SignalLead, s.Bag.RequeueExit, s.Bag.Outputs = int(unix.SIGUSR1), time.Hour, 85, []string{"state"}
	ready := fifo(t, s.Dir, "ready")
	p.say(&wire.Ends{Left: 3 * time.Hour})
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	release(t, ready)
	p.say(&wire.Ends{Left: time.Minute}) // an administrator shortens the wall time
	if m := p.ended(event.Requeued); m.Exit != 85 || !strings.Contains(m.Reason, "--requeue-exit") {
		t.Errorf("it ended with %+v", m)
	}
	for file, want := range map[string]string{"state": "kept\n", "bag-1/1.stdout": "now\n"} {
		if got := read(t, filepath.Join(s.Dir, file)); got != want {
			t.Errorf("%s has %q, want %q", file, got, want)
		}
	}
}

// TestUnhandledSignal: a program that does not handle the signal fails by it, and is told why.
func TestUnhandledSignal(t *testing.T) {
	_, p := startWorker(t)
	s := bag(t, "sleep", "1000")
	s.Bag.Signal, s.Bag.SignalLead = int(unix.SIGUSR2), time.Hour
	p.say(&wire.Ends{Left: time.Minute})
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if m := p.ended(event.Failed); !strings.Contains(m.Reason, "--signal sends SIGUSR2") {
		t.Errorf("reason is %q", m.Reason)
	}
}

// TestDeadline: a task is told when its time ends: by the end of its allocation or by its time limit, whichever is earlier, or not at all.
func TestDeadline(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo "${BERTH_DEADLINE-none}"`)
	s.Bag.Env = []string{"BERTH_DEADLINE=7"} // of a task in which this job was submitted
	n := 0
	deadline := func() (left time.Duration, none bool) {
		t.Helper()
		n++
		p.job(s, 0, 0)
		before := time.Now()
		p.say(start(try(s.ID, 0, n)))
		p.ended(event.Done)
		text := strings.TrimSpace(read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")))
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, text == "none"
		}
		return time.Unix(at, 0).Sub(before), false
	}
	within := func(want time.Duration) {
		t.Helper()
		if left, none := deadline(); none || left < want-patience || left > want+patience {
			t.Errorf("%v are left (none: %v), want %v", left, none, want)
		}
	}
	if left, none := deadline(); !none {
		t.Errorf("without an end %v are left", left)
	}
	s.Bag.TimeLimit = 5 * time.Hour
	within(5 * time.Hour)
	p.say(&wire.Ends{Left: time.Hour})
	within(time.Hour)
	s.Bag.TimeLimit = 0
	within(time.Hour)
}
