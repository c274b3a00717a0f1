package test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// interrupt sends the signal of Ctrl-C.
func (r *running) interrupt(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// signal sends a signal to all given processes.
func signal(t *testing.T, pids []int, s syscall.Signal) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("there is nobody to be sent a signal")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInterrupt checks that the first interrupt of the submitting command cancels the job and keeps
// what is done, and that after the second one the command ends and the job ends by itself.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\ntrap '' TERM\n[ $1 = 1 ] || while [ ! -e go ]; do sleep 0.2; done\necho $1 >>ran\n")
	r := w.start("bag", "--array", "1-3", "--", "./task.sh", "{}")
	w.await("a task to be done", func() bool {
		return len(w.jobs()) == 1 && strings.Contains(w.berth("progress", "--json").stdout, `"tasks_done":1`)
	})
	workers := w.workers()
	signal(t, workers, syscall.SIGSTOP) // the job cannot be over before the second interrupt
	r.interrupt(t)
	w.await("the cancel", func() bool { return strings.Contains(w.must("status").stdout, "stopping") })
	r.interrupt(t)
	res := w.finish(r)
	signal(t, workers, syscall.SIGCONT)
	if res.code != 255 || !strings.Contains(res.stderr, "berth wait bag-1") || strings.Contains(res.stderr, "context") {
		t.Errorf("after two interrupts: %v", res)
	}
	if r := w.berth("wait"); r.code != 255 || !strings.Contains(r.stderr, "1 of 3 tasks done; go on with: berth resume bag-1") {
		t.Errorf("the cancelled job: %v", r)
	}
	w.write("go", "")
	w.must("resume")
	if got := strings.Count(w.read("ran"), "\n"); got != 3 {
		t.Errorf("tasks came to their end %d times, want 3", got)
	}
}

// TestInterruptMapReduce checks that the exit code is 6, and that the job can be resumed.
func TestInterruptMapReduce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "a\n")
	w.write("map.sh", "#!/bin/sh\nwhile [ ! -e "+w.dir+"/go ]; do sleep 0.2; done; cat\n")
	r := w.start("mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "map.sh", "-reducer", "cat")
	w.await("a map to run", func() bool { return len(w.jobs()) == 1 && len(w.tryRecords(w.jobs()[0])) >= 2 })
	r.interrupt(t)
	if res := w.finish(r); res.code != 6 || !strings.Contains(res.stderr, "berth resume mr-1") {
		t.Errorf("after an interrupt: %v", res)
	}
	w.write("go", "")
	w.must("resume")
	if got := w.output("out"); got != "a\t\n" {
		t.Errorf("output %q", got)
	}
}

// TestInterruptOfAWait checks that interrupting a command that only watches does not affect the job.
func TestInterruptOfAWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--detach", "--array", "1", "--", "sh", "-c", "while [ ! -e go ]; do sleep 0.2; done")
	for _, args := range [][]string{{"wait"}, {"progress", "--follow"}} {
		cmd := w.command(args...)
		out, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := bufio.NewReader(out)
		if _, err := said.ReadString('\n'); err != nil { // it looks on
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(said)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // its exit code says more
		if cmd.ProcessState.ExitCode() != 255 || !strings.Contains(string(rest), "continues without this command") {
			t.Errorf("berth %v: exit %d, %s", args, cmd.ProcessState.ExitCode(), rest)
		}
	}
	w.write("go", "")
	w.must("wait")
}

// TestInterruptWhileReading checks that a command that still reads its entries ends at once and leaves nothing.
func TestInterruptWhileReading(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("bag", "--", "echo")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(bytes.Repeat([]byte("entry\n"), 1<<18)); err != nil { // more than a pipe holds: it is reading
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it went on with half of its entries")
	}
	if ids := w.jobs(); len(ids) != 0 {
		t.Errorf("it left %v", ids)
	}
}

// TestResumeTellsNews checks that resume does not report failures from before.
func TestResumeTellsNews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\n[ -e fixed ] || { echo broken $1 >&2; exit 3; }\n")
	r := w.berth("bag", "--max-fails", "1", "--array", "1-9", "--", "./task.sh", "{}")
	if r.code == 0 || !strings.Contains(r.stderr, "not run") || !strings.Contains(r.stderr, "berth resume bag-1, and with --failed to rerun them, too") {
		t.Errorf("a bag stopped by --max-fails: %v", r)
	}
	w.write("fixed", "")
	if r := w.berth("resume"); strings.Contains(r.stderr, "broken") {
		t.Errorf("old failures are told again: %v", r)
	}
	w.must("resume", "--failed")
	if r := w.berth("resume", "--workers", "-3"); r.code != 255 || !strings.Contains(r.stderr, "--workers") {
		t.Errorf("a resume with too few workers: %v", r)
	}
	decided := w.must("explain").stdout
	if r := w.berth("resume", "--workers", "2"); r.code != 255 {
		t.Errorf("a job that is done was resumed: %v", r)
	}
	if got := w.must("explain").stdout; got != decided {
		t.Errorf("a resume that was refused changed the plan:\n%s", got)
	}
}
