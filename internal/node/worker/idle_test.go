package worker

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/wire"
)

// TestIdleRest: an attempt whose program runs is not idle whatever that does, what it has left is once it does nothing, and no more when it works.
func TestIdleRest(t *testing.T) {
	_, p := startWorker(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenFile(pipe, os.O_RDWR, 0) // while it is open, no reader waits to open the pipe or finds its end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	line := func() {
		t.Helper()
		if _, err := in.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
	}
	s := shell(t, `read x < `+pipe+`; (read x < `+pipe+`; while :; do :; done) & exit`)
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at, "x"))
	await := func(what string, is func(wire.Progress) bool) {
		for end := time.After(patience); ; {
			select {
			case list := <-p.beats:
				if len(list) > 0 && is(list[0]) {
					return
				}
			case <-end:
				t.Fatalf("the attempt is never %s", what)
			}
		}
	}
	await("running", func(p wire.Progress) bool {
		if p.Idle {
			t.Error("it is idle before its program has ended")
		}
		return true
	})
	line()
	await("idle", func(p wire.Progress) bool { return p.Idle })
	line()
	await("working again", func(p wire.Progress) bool { return !p.Idle })
	p.say(wire.Kill{Attempt: at, Reason: "enough"})
	p.ended(event.Killed)
}
