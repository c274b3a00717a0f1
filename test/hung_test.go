package test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
)

// within runs the program and fails the test if it does not end in time. Without it the test would
// wait for the whole time of the test run.
func (w *world) within(args ...string) result {
	w.t.Helper()
	r := w.start(args...)
	done := make(chan result, 1)
	go func() { done <- w.finish(r) }()
	var res result
	w.await("berth "+args[0]+" to end", func() bool {
		select {
		case res = <-done:
			return true
		default:
			return false
		}
	})
	return res
}

// pipe makes a named pipe and returns a reader that does not read. Like a hanging
// file system, it blocks every process that writes more than the pipe's buffer.
func (w *world) pipe(name string) *os.File {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		w.t.Fatal(err)
	}
	r, err := os.OpenFile(path, os.O_RDWR, 0) // not blocked by the lack of a writer
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestJoblogThatHangs stops the reader of a job log's pipe. No other job or command waits for it, nor, for ever, does the
// end of the coordinator or the start of the next one: a command that comes while it ends is done by the next one. When the pipe is read
// at last, the log has every attempt.
func TestJoblogThatHangs(t *testing.T) {
	t.Parallel()
	const tasks = 300
	w := newWorld(t)
	reader := w.pipe("log")
	w.write("task.sh", "#!/bin/sh\n[ $1 != 300 ] || while [ ! -e go ]; do sleep 0.2; done\n")
	long := strings.Repeat("x", 1000) // 300 lines are more than a pipe holds
	id := strings.TrimSpace(w.must("bag", "--detach", "--joblog", "log", "--array", "1-300", "--", "./task.sh", "{}", long).stdout)
	w.await("all tasks but the last", func() bool {
		return strings.Contains(w.within("progress", id, "--json").stdout, `"tasks_done":299`)
	})
	alive := func(when string) {
		t.Helper()
		if r := w.within("bag", "--", "true", ":::", "y"); r.code != 0 {
			t.Fatalf("%s another job fails: %v", when, r)
		}
		if r := w.within("status"); !strings.Contains(r.stdout, id) {
			t.Fatalf("%s: status %v", when, r)
		}
	}
	alive("with a hung job log")
	if r := w.within("server", "stop", "--force"); r.code != 0 {
		t.Fatal(r)
	}
	alive("with the next coordinator")

	w.write("go", "")
	seen := map[string]bool{}
	lines := bufio.NewScanner(reader)
	for len(seen) < tasks && lines.Scan() {
		if fields := strings.Split(lines.Text(), "\t"); len(fields) == 9 && strings.HasSuffix(fields[8], long) {
			seen[fields[0]] = true
		}
	}
	if len(seen) != tasks {
		t.Errorf("%d of %d tasks are in the log (%v)", len(seen), tasks, lines.Err())
	}
	if r := w.within("wait", id); r.code != 0 {
		t.Error(r)
	}
}

// TestJoblogOfNobody checks that a job ends even if nobody reads its log, and that the wait for
// writing the log is bounded.
func TestJoblogOfNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := syscall.Mkfifo(filepath.Join(w.dir, "log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.within("bag", "--joblog", "log", "--", "true", ":::", "x"); r.code != 0 {
		t.Fatal(r)
	}
	if r := w.within("server", "stop"); r.code != 0 {
		t.Fatal(r)
	}
	if r := w.berth("bag", "--joblog", "log/log", "--", "true", ":::", "x"); r.code != 255 || !strings.Contains(r.stderr, "log/log") {
		t.Errorf("a log that cannot be begun: %v", r)
	}
	if got := w.jobs(); len(got) != 1 || got[0] != job.ID("bag-1") {
		t.Errorf("jobs %v: one that could not begin its log was kept", got)
	}
}
