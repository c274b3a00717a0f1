package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// bag returns the spec of a bag in a folder of its own.
func bag(t testing.TB, command ...string) *job.Spec {
	t.Helper()
	s := job.New(job.Bag, t.TempDir())
	s.ID = "bag-1"
	if err := s.Bag.SetCommand(command, false); err != nil {
		t.Fatal(err)
	}
	s.Bag.Env = os.Environ()
	s.Normalize()
	return s
}

// shell returns the spec of a bag whose tasks run a shell script.
func shell(t testing.TB, script string) *job.Spec {
	t.Helper()
	s := bag(t, "true")
	s.Bag.Command, s.Bag.Shell = []string{script}, true
	return s
}

func try(id job.ID, task, n int) job.Attempt { return job.Attempt{Job: id, Task: task, N: n} }

// start is the start of a bag task that may commit.
func start(at job.Attempt, entry ...string) *wire.Start {
	return &wire.Start{Start: step.Start{Attempt: at, Through: job.PhaseStore, Commit: true}, Entry: entry}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fifo makes a named pipe by which a task and its test wait for each other.
func fifo(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// hear waits until a task writes to the fifo and returns what it wrote.
func hear(t testing.TB, path string) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(path)
		got <- string(b)
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(patience):
		t.Fatalf("nobody wrote to %s", path)
		return ""
	}
}

// release lets the task that reads the fifo go on.
func release(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// awaitDeath waits until a process is gone.
func awaitDeath(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if ended, err := probe.AwaitExit(fd, patience); err != nil || !ended {
		t.Fatalf("process %d lives on (%v)", pid, err)
	}
}
