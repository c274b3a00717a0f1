package test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestResultsOnStandardOutput checks that the output of a bag's tasks is printed as GNU parallel prints it.
func TestResultsOnStandardOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		// The first waits for the last, so that it ends last.
		{"in order", []string{"bag", "-k", "--", "[ {} = 3 ] && touch third; until [ -e third ] || [ {} = 2 ]; do sleep 0.2; done; echo {}", ":::", "1", "2", "3"}, "1\n2\n3\n"},
		{"tagged", []string{"bag", "-k", "--tag", "--colsep", ",", "--", "echo {2}; printf {1}", ":::", "a,b", "c,d"}, "a b\tb\na b\ta\nc d\td\nc d\tc\n"},
		{"named by the entry", []string{"bag", "-k", "--stdout", "res/{1/.}.out", "--", "echo {}", ":::", "x/1.txt"}, "x/1.txt\n"},
		{"what would be run", []string{"bag", "--dry-run", "--", "echo {} >{/.}.log", ":::", "a/b c.txt"}, "echo 'a/b c.txt' >'b c'.log\n"},
		{"again", []string{"cat", "bag-1"}, "1\n2\n3\n"},
		{"of one task", []string{"cat", "bag-1", "2"}, "2\n"},
		{"of a job that is over", []string{"wait", "-k", "bag-1"}, "1\n2\n3\n"},
	} {
		out, err := w.command(c.args...).Output()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q is printed (%v), want %q", c.name, out, err, c.want)
		}
	}
	if got := w.read("res/1.out"); got != "x/1.txt\n" {
		t.Errorf("the file that the entry names has %q", got)
	}
}

// TestWaitForSeveral: one command waits for several jobs, has the exit code of the first that is not done, and knows all of their names
// before it waits.
func TestWaitForSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--detach", "--", "until [ -e go ]; do sleep 0.1; done; echo {}; exit", ":::", "a")
	w.must("bag", "--detach", "--", "until [ -e go ]; do sleep 0.1; done; exit 3; : {}", ":::", "a", "b")
	w.must("bag", "--detach", "--", "until [ -e go ]; do sleep 0.1; done; exit 3; : {}", ":::", "a")
	if r := w.berth("wait", "1", "4"); r.code != 255 || !strings.Contains(r.stderr, "no job 4") {
		t.Errorf("of a job that is not there: %v", r)
	}
	w.write("go", "")
	if r := w.berth("wait", "1", "bag-2", "3", "-k"); r.code != 2 || r.stdout != "a\n" {
		t.Errorf("want the exit code of the second job and the output of the first: %v", r)
	}
	var v struct{ Jobs []report.JobView }
	if err := json.Unmarshal([]byte(w.berth("wait", "1", "2", "--json").stdout), &v); err != nil || len(v.Jobs) != 2 || v.Jobs[1].TasksFailed != 2 {
		t.Errorf("as JSON: %v, %+v", err, v)
	}
}

// TestResultsOfFailedTasks checks that the output of a failed task is printed, too, and its errors on standard error.
func TestResultsOfFailedTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("bag", "-k", "--retries", "1", "--", "echo {}; echo no {} >&2; [ {} = b ]", ":::", "a", "b")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || string(out) != "a\nb\n" {
		t.Errorf("%q is printed (%v), want a and b, and exit code 1 for one failed task", out, err)
	}
	for _, want := range []string{"no a\n", "no b\n"} {
		if !strings.Contains("\n"+errs.String(), "\n"+want) {
			t.Errorf("standard error has no line %q:\n%s", want, errs.String())
		}
	}
}

// TestCollectedResults checks that the output of some thousand tasks is collected in few files, and that all commands find it there.
func TestCollectedResults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := ""
	for i := 1; i <= job.ManyTasks+1; i++ {
		want += strconv.Itoa(i) + "\n"
	}
	out, err := w.command("bag", "-k", "--array", fmt.Sprintf("1-%d", job.ManyTasks+1), "--", "echo", "{}").Output()
	if err != nil || string(out) != want {
		t.Errorf("%.200q is printed (%v)", out, err)
	}
	if files, err := filepath.Glob(filepath.Join(w.dir, "bag-1", "*")); len(files) != 1 || err != nil {
		t.Errorf("%.5v are in the job's folder (%v), want one file", files, err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"again", []string{"cat", "bag-1"}, want},
		{"of two tasks", []string{"cat", "bag-1", "1999", "7"}, "1999\n7\n"},
		{"their errors", []string{"cat", "--stderr", "bag-1"}, ""},
		{"of a job that is over", []string{"wait", "-k", "bag-1"}, want},
	} {
		if out, err := w.command(c.args...).Output(); err != nil || string(out) != c.want {
			t.Errorf("%s: %.200q is printed (%v)", c.name, out, err)
		}
	}
}

// TestCollectedFailure checks that the command in a report prints a failed task's standard error, and that a resume continues in the same folder.
func TestCollectedFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res := w.berth("bag", "--stdout", "collect", "--tag", "--", "echo {}; echo no {} >&2; [ {} = b -o -e ok ]", ":::", "a", "b")
	if res.code != 1 || !strings.Contains(res.stderr, "see berth cat --stderr bag-1 1") {
		t.Errorf("the end of the job: %v", res)
	}
	if got := w.must("cat", "--stderr", "bag-1", "1").stdout; got != "no a\n" {
		t.Errorf("the errors of the failed task are %q", got)
	}
	w.write("ok", "")
	w.must("resume", "--failed", "bag-1")
	if got := w.must("cat", "--tag", "bag-1").stdout; got != "a\ta\nb\tb\n" {
		t.Errorf("after a resume %q is printed", got)
	}
	if res := w.berth("bag", "--stdout", "collect", "--stderr", "{task}.err", "--", "true", ":::", "a"); res.code != 255 || !strings.Contains(res.stderr, "must both be collected or neither") {
		t.Errorf("one stream collected, one in files: %v", res)
	}
}

// TestUngrouped checks that the output of tasks is printed while they run, both streams separately, and that it goes to files once the command has ended.
func TestUngrouped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Each task waits until the reader of its standard output has seen the line.
	cmd := w.command("bag", "-u", "--", "echo {}; echo no {} >&2; until [ -e seen ]; do sleep 0.2; done", ":::", "a")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 2)
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "a\n" {
		t.Errorf("while the task runs %q is printed (%v)", line, err)
	}
	w.write("seen", "")
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("%q is printed later (%v)", rest, err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains("\n"+errs.String(), "\nno a\n") {
		t.Errorf("the job ended with %v; on standard error there is\n%s", err, errs.String())
	}
	if files, err := filepath.Glob(filepath.Join(w.dir, "bag-1", "*")); len(files) > 0 || err != nil {
		t.Errorf("%v are in the job's folder (%v)", files, err)
	}

	gone := w.command("bag", "-u", "--throttle", "1", "--", "echo > ready; until [ -e go ]; do sleep 0.2; done; echo {}", ":::", "1", "2", "3")
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	w.await("a task to run", func() bool { _, err := os.Stat(filepath.Join(w.dir, "ready")); return err == nil })
	if err := gone.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = gone.Wait() // it was killed
	w.write("go", "")
	w.berth("wait", "bag-2") // the task that ran when the command was killed may fail: nobody reads what it writes
	if got := w.must("cat", "bag-2", "3").stdout; got != "3\n" {
		t.Errorf("the last task left %q", got)
	}
}

// TestOutputOfRunningTask: what a task has printed can be read while it runs, wherever its output goes, and what it
// printed until its job was cancelled stays.
func TestOutputOfRunningTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, collect := range []string{job.DefaultStdout, "collect"} {
		go1, id := fmt.Sprintf("go%d", i), fmt.Sprintf("bag-%d", i+1)
		w.must("bag", "--detach", "-c", "1", "--stdout", collect, "--", "echo begin {}; until [ -e "+go1+"{} ]; do sleep 0.1; done; echo end {}", ":::", "1", "2")
		w.await("both tasks to print", func() bool { return w.berth("cat", id).stdout == "begin 1\nbegin 2\n" })
		if r := w.berth("cat", id, "1"); r.stdout != "begin 1\n" || !strings.Contains(r.stderr, "task 1 still runs") {
			t.Errorf("%s: of a running task: %v", collect, r)
		}
		following := w.start("cat", "--follow", id, "1")
		w.write(go1+"1", "")
		if r := w.finish(following); r.stdout != "begin 1\nend 1\n" {
			t.Errorf("%s: followed to its end: %v", collect, r)
		}
		w.must("cancel", id)
		if r := w.berth("cat", id); r.stdout != "begin 1\nend 1\nbegin 2\n" || !strings.Contains(r.stderr, "task 2 was stopped") {
			t.Errorf("%s: of a cancelled bag: %v", collect, r)
		}
	}
	w.must("bag", "--detach", "--throttle", "1", "--", "echo begin {}; until [ -e never ]; do sleep 0.1; done", ":::", "1", "2")
	w.await("the first task to print", func() bool { return w.berth("cat", "bag-3").stdout == "begin 1\n" })
	if r := w.berth("cat", "bag-3", "2"); r.stdout != "" || !strings.Contains(r.stderr, "task 2 has not started") {
		t.Errorf("of a task that waits: %v", r)
	}
	w.must("cancel", "bag-3")
}

// TestOutputWithoutAnswer: the output of tasks that are over can be read although the coordinator does not answer.
func TestOutputWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("server", "start") // it stays when its jobs are over
	w.must("bag", "--", "echo {}", ":::", "1", "2")
	coordinators := w.berths(coordinatorRole)
	if len(coordinators) != 1 {
		t.Fatalf("coordinators %v", coordinators)
	}
	w.ok(syscall.Kill(coordinators[0], syscall.SIGSTOP))
	if r := w.berth("cat", "bag-1"); r.code != 0 || r.stdout != "1\n2\n" {
		t.Error(r)
	}
	w.ok(syscall.Kill(coordinators[0], syscall.SIGCONT))
}
