package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/wire"
)

func testStandIn(t *testing.T, script string) (s *standIn, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	return newStandIn(Config{StandInCommand: []string{"/bin/sh", "-c", script},
		WorkerConfig: wire.WorkerConfig{StandIn: &wire.StandIn{Env: []string{"WHO=me"}, After: time.Minute, Log: log}},
		Rand:         rand.New(rand.NewPCG(1, 1)), Log: slog.New(slog.DiscardHandler)}), log
}

// TestStandIn: a stand-in is started once no coordinator has answered for long, one at a time,
// and again later if it has ended.
func TestStandIn(t *testing.T) {
	s, log := testStandIn(t, "echo $WHO; read line <"+filepath.Join(t.TempDir(), "none"))
	lines := func() int {
		b, _ := os.ReadFile(log)
		return strings.Count(string(b), "me\n")
	}
	s.startAfter(time.Minute - 1)
	if s.cmd != nil {
		t.Fatal("it is started too early")
	}
	for n := 1; n <= 3; n++ {
		alone := time.Duration(n) * 90 * time.Second // a minute and at most half of one
		s.startAfter(alone)
		if s.cmd == nil {
			t.Fatal("it is not started")
		}
		<-s.exited
		if lines() != n {
			t.Errorf("%d were started, not %d", lines(), n)
		}
		s.startAfter(alone)
		if lines() != n {
			t.Error("another is started at once")
		}
	}
	s.answered()
	if s.next < time.Minute || s.next > 90*time.Second {
		t.Errorf("after an answer the next one waits for %v", s.next)
	}
}

// TestStandInOutlived: a worker that ends waits for its stand-in, which gets the signal that the worker got.
func TestStandInOutlived(t *testing.T) {
	s, log := testStandIn(t, "trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.1; done")
	s.startAfter(time.Hour)
	first := s.cmd
	s.startAfter(2 * time.Hour)
	if s.cmd != first {
		t.Error("a second one is started beside the first")
	}
	for {
		if b, _ := os.ReadFile(log); strings.Contains(string(b), "up") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.outlive(ctx)
	if b, _ := os.ReadFile(log); !strings.Contains(string(b), "told") {
		t.Errorf("it was not told to end: %s", b)
	}
	s.outlive(t.Context()) // it is over
	none, _ := testStandIn(t, "")
	none.cfg.StandIn = nil
	none.startAfter(time.Hour)
	none.outlive(t.Context())
	if none.cmd != nil {
		t.Error("one is started that is not wanted")
	}
}
