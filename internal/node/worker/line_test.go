package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/wire"
)

// behind returns the message that starts a task behind another one.
func behind(lead, at int) *wire.Start {
	m := start(try("bag-1", at, 1), "runs")
	before := try("bag-1", lead, 1)
	m.Behind = before
	return m
}

// startLine starts a task that runs until its gate is opened, and three behind it.
func startLine(t *testing.T) (p *peer, dir string, open func()) {
	t.Helper()
	_, p = startWorker(t)
	s := shell(t, `if [ {} = waits ]; then read x <gate; fi; echo $BERTH_TASK_ID >>order`)
	gate := filepath.Join(s.Dir, "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "waits"), behind(0, 1), behind(1, 2), behind(2, 3))
	return p, s.Dir, func() {
		if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLine: attempts that are behind others begin one after another, whatever cores are free. One that is killed before it began ends at once without
// running, and the one behind it follows the one before it. All ends are reported.
func TestLine(t *testing.T) {
	p, dir, open := startLine(t)
	p.say(wire.Kill{Attempt: try("bag-1", 1, 1), Reason: "because"})
	if m := p.ended(event.Killed); len(m.Stats) > 0 {
		t.Errorf("the first end is %+v", m.AttemptEnded)
	}
	open()
	want := "1\n3\n4\n"
	for done := 0; done < 3; {
		switch m := expect[wire.Ended](p); {
		case m.Outcome == event.Done:
			done++
		case m.Attempt.Task == 1 || !m.Returned:
		default: // on a busy machine those behind the first may have been given back before
			want = ""
			p.say(start(try("bag-1", m.Attempt.Task, 2), "runs"))
		}
	}
	if got := read(t, filepath.Join(dir, "order")); len(got) != 6 || strings.Contains(got, "2") || want != "" && got != want {
		t.Errorf("the tasks ran in the order %q", got)
	}
}

// TestLineIsGivenBack: attempts that are behind one which takes long are given back, and have not run. One that is sent behind an attempt that is over
// begins at once.
func TestLineIsGivenBack(t *testing.T) {
	p, dir, open := startLine(t)
	for range 3 {
		if m := p.ended(event.Killed); !m.Returned || m.Attempt.Task == 0 {
			t.Errorf("the end is %+v", m.AttemptEnded)
		}
	}
	open()
	p.ended(event.Done)
	p.say(behind(0, 4))
	p.ended(event.Done)
	if got, want := read(t, filepath.Join(dir, "order")), "1\n5\n"; got != want {
		t.Errorf("the tasks ran in the order %q, want %q", got, want)
	}
}

// TestAttemptsThatDidNotBegin: a program does not see that its task was given back before it began. Its files still have the number of the
// attempt.
func TestAttemptsThatDidNotBegin(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo $BERTH_ATTEMPT; ls -A bag-1 >files # {}`)
	p.job(s, 0, 0)
	m := start(try(s.ID, 0, 3), "runs")
	m.Unbegun = 2
	p.say(m)
	p.ended(event.Done)
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != "1\n" {
		t.Errorf("the task sees %q", got)
	}
	if got := read(t, filepath.Join(s.Dir, "files")); !strings.Contains(got, ".3.part") {
		t.Errorf("while it runs there are %q", got)
	}
}

// TestEndsGoTogether: the end of an attempt with another one behind it is sent with the next end, or when the monitor looks, and again on a new
// connection if it was not acknowledged.
func TestEndsGoTogether(t *testing.T) {
	c := &clock{}
	l, r := newLink(c.now), &recorder{}
	if _, err := l.welcome(r, c.t, 0); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		l.keep(event.AttemptEnded{Attempt: try("bag-1", n, 1), Outcome: event.Done}, nil)
	}
	l.tellLater(try("bag-1", 0, 1))
	if len(r.sent) > 0 {
		t.Errorf("sent at once: %v", r.kinds())
	}
	l.told(try("bag-1", 1, 1))
	l.tellLater(try("bag-1", 2, 1))
	l.tellNow()
	l.tellNow()
	if len(r.sent) != 3 || r.sent[0].(wire.Ended).Attempt.Task != 0 {
		t.Errorf("sent %v", r.kinds())
	}
	l.tellLater(try("bag-1", 3, 1))
	l.apart()
	again := &recorder{}
	if _, err := l.welcome(again, c.t, 0); err != nil {
		t.Fatal(err)
	}
	l.tellNow()
	if len(again.sent) != 4 {
		t.Errorf("sent again %v", again.kinds())
	}
}
