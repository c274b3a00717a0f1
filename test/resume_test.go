package test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestResumeWithCommand: a bag goes on with another command for the tasks that are not done, and the report tells both. What cannot be
// is refused, and then the bag keeps its command.
func TestResumeWithCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tasks", `{"command": "exit 3"}`+"\n")
	if r := w.berth("bag", "-c", "1", "--", "[ {} = a ]; exit $((3*$?))", ":::", "a", "b"); r.code != 1 {
		t.Fatalf("want a failed task: %v", r)
	}
	if r := w.berth("bag", "--tasks", "tasks"); r.code != 1 {
		t.Fatalf("want a failed task: %v", r)
	}
	for want, args := range map[string][]string{
		"it names column 2, but the entries have 1":           {"bag-1", "--command", "echo {2}"},
		"all tasks of the bag have commands of their own":     {"bag-2", "--command", "echo {}"},
		"it has no {}, and the entry would be appended to th": {"bag-1", "--command", "echo a; echo"},
	} {
		if r := w.berth(append([]string{"resume", "--failed"}, args...)...); r.code != 255 || !strings.Contains(r.stderr, want) {
			t.Errorf("want %q: %v", want, r)
		}
	}
	w.must("resume", "bag-1", "--failed", "--command", "echo now {}")
	if out := w.must("cat", "bag-1", "2").stdout; out != "now b\n" {
		t.Errorf("the task printed %q", out)
	}
	if out := w.must("report", "bag-1").stdout; !strings.Contains(out, "1 task was done; before: [ {} = a ]; exit $((3*$?)); since: echo now {}") {
		t.Errorf("the report does not tell of the change:\n%s", out)
	}
}

// TestResumeChangesTerms resumes jobs with other terms than those with which they failed: retries and
// cores of a bag's tasks, and cores of a reduce whose worker still has the job. The next resume keeps
// the changed terms.
func TestResumeChangesTerms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cores := min(2, runtime.NumCPU())
	wide := fmt.Sprintf(`[ -e fixed ] && [ "$OMP_NUM_THREADS" = %d ]`, cores)
	// The first attempt after the change fails once more.
	w.write("task.sh", "#!/bin/sh\nif "+wide+"; then if [ -e \"second$1\" ]; then exit 0; else : >\"second$1\"; fi; fi\nexit 3\n")
	if r := w.berth("bag", "-c", "1", "--", "./task.sh", ":::", "a", "b"); r.code != 2 {
		t.Fatalf("want two failed tasks: %v", r)
	}
	bag := string(w.jobs()[0])
	w.write("in.txt", "x\n")
	w.write("reduce.sh", "#!/bin/sh\ncd "+w.dir+" || exit 9\n"+wide+" || exit 3\ncat\n")
	mr := []string{"mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "cat", "-reducer", w.dir + "/reduce.sh", "-numReduceTasks", "1", "-D", "mapreduce.reduce.maxattempts=1", "-c", "1"}
	if r := w.berth(mr...); r.code != 1 {
		t.Fatalf("want a failed reduce: %v", r)
	}
	reduce := string(w.jobs()[1])

	w.write("fixed", "")
	c := fmt.Sprint(cores)
	if r := w.berth("resume", bag, "--failed", "-c", c); r.code != 2 {
		t.Errorf("without retries the tasks fail once more: %v", r)
	}
	if r := w.berth("resume", bag, "--failed", "--retries", "x"); r.code != 255 || !strings.Contains(r.stderr, "--retries") {
		t.Errorf("want an error about --retries: %v", r)
	}
	w.write("task.sh", "#!/bin/sh\nif "+wide+"; then if [ -e \"third$1\" ]; then exit 0; else : >\"third$1\"; fi; fi\nexit 3\n")
	w.must("resume", bag, "--failed", "--retries", "1") // with the cores of the resume before
	w.must("resume", reduce, "-c", c)
	if n := strings.Count(w.must("report", reduce, "--tasks").stdout, "map"); n > 2 {
		t.Errorf("the map was run again: %d lines tell of it", n)
	}
}
