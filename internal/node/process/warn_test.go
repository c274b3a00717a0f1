package process

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// TestWarn: a program gets the signal once when its time is nearly over, and again before a later end.
func TestWarn(t *testing.T) {
	r, w, null := pipeAndNull(t)
	lanes, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	script := `trap 'echo signalled' USR1; echo ready; while :; do sleep 0.01; done`
	c := &Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Grace: time.Second}
	begun, ended := make(chan *Process, 1), make(chan struct{})
	lanes.Run(-1, func(*Lane) {
		defer close(ended)
		defer close(begun)
		p, err := s.start(c, []uintptr{null.Fd(), w.Fd(), null.Fd()}, nil)
		_ = w.Close()
		if err != nil {
			t.Error(err)
			return
		}
		begun <- p
		s.ended(p, p.wait())
	})
	program, ok := <-begun
	if !ok {
		t.FailNow()
	}
	out := bufio.NewReader(r)
	says := func(want string) {
		t.Helper()
		if line, err := out.ReadString('\n'); line != want+"\n" {
			t.Fatalf("it says %q (%v), want %s", line, err, want)
		}
	}
	says("ready")
	started := program.started
	l := Limits{Time: time.Hour, Signal: unix.SIGUSR1, Lead: time.Minute}
	s.Warn(l, started.Add(59*time.Minute-1))
	s.Warn(l, started.Add(59*time.Minute))
	says("signalled")
	s.Warn(l, started.Add(59*time.Minute+time.Second))
	l.Ends = started.Add(30 * time.Minute)
	s.Warn(l, started.Add(28*time.Minute)) // its end is far again
	s.Warn(l, started.Add(29*time.Minute))
	says("signalled")
	if s.Exceeded(l, started.Add(time.Hour), nil) == nil {
		t.Error("its time is over, and it goes on")
	}
	if s.Stood(time.Minute); s.Exceeded(l, started.Add(time.Hour), nil) != nil || s.Exceeded(l, started.Add(61*time.Minute), nil) == nil {
		t.Error("the minute for which it was stopped counts")
	}
	s.Kill()
	<-ended
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("it says %q more (%v)", rest, err)
	}
}
