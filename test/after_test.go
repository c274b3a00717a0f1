package test

import (
	"strings"
	"testing"
)

// TestAfter submits bags that wait for each other, and kills the coordinator: each bag starts when the one before has ended.
func TestAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("one.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\necho one >>ran\n")
	w.must("bag", "--detach", "--array", "1", "--", "./one.sh")
	first := string(w.jobs()[0])
	w.must("bag", "--detach", "--after", "last", "--", "echo {} >>ran", ":::", "two")
	second := string(w.jobs()[1])
	w.must("bag", "--detach", "--after", "1,"+second, "--", "echo {} >>ran", ":::", "three")
	if r := w.must("explain", second); !strings.Contains(r.stdout, "begins when "+first+" is done") {
		t.Errorf("explain: %v", r)
	}
	if r := w.must("status"); strings.Count(r.stdout, first) < 3 {
		t.Errorf("status does not say what the jobs wait for: %v", r)
	}
	w.killServer()
	w.write("go", "")
	w.must("wait")
	if got := w.read("ran"); got != "one\ntwo\nthree\n" {
		t.Errorf("the tasks ran as %q", got)
	}
	w.must("bag", "--after", first, "--", "echo", ":::", "at once") // it is done already
}

// TestAfterFailure checks that a bag fails if the bag that it waits for has failed, and that both can be resumed.
func TestAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("one.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n[ -e fixed ]\n")
	w.must("bag", "--detach", "--array", "1", "--", "./one.sh")
	second := w.start("bag", "--after", "1", "--", "echo {} >>ran", ":::", "two")
	w.await("both jobs", func() bool { return len(w.jobs()) == 2 && w.tryRecords(w.jobs()[1]) != nil })
	first := string(w.jobs()[0])
	w.write("go", "")
	if r := w.finish(second); r.code != 255 || !strings.Contains(r.stderr, "it comes after "+first+", which failed") {
		t.Errorf("the follower of a job that failed: %v", r)
	}
	if r := w.berth("bag", "--after", first, "--", "echo", ":::", "x"); r.code != 255 || !strings.Contains(r.stderr, "berth resume") {
		t.Errorf("a job after one that failed: %v", r)
	}
	if r := w.berth("resume", "2"); r.code != 255 || !strings.Contains(r.stderr, "which failed") {
		t.Errorf("resumed before the one that it comes after: %v", r)
	}
	w.write("fixed", "")
	w.must("resume", "--failed", "--detach", "1")
	w.must("resume", "2")
	if got := w.read("ran"); got != "two\n" {
		t.Errorf("the second job ran as %q", got)
	}
}
