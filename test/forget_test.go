package test

import (
	"os"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestForget removes jobs that have ended and refuses one that runs. Outputs and profiles stay,
// and job numbers are not used again.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n")
	for range 3 {
		w.must("bag", "--", "echo", ":::", "x")
	}
	id := strings.TrimSpace(w.must("bag", "--detach", "--", "./task.sh", ":::", "x").stdout)
	r := w.berth("forget", "1", id)
	if r.code != int(job.CodeArguments) || !strings.Contains(r.stdout, "bag-1 is forgotten") || !strings.Contains(r.stderr, "berth cancel "+id) {
		t.Errorf("a running job was forgotten: %v", r)
	}
	if r := w.must("forget", "bag-3", "--json"); r.stdout != `{"forgotten":["bag-3"]}`+"\n" {
		t.Error(r)
	}
	if r := w.must("status"); strings.Contains(r.stdout, "bag-1") || !strings.Contains(r.stdout, "bag-2") || strings.Contains(r.stdout, "bag-3") {
		t.Error(r)
	}
	if r := w.berth("report", "bag-1"); r.code != int(job.CodeArguments) {
		t.Error(r)
	}
	if _, err := os.Stat(w.dir + "/bag-1"); err != nil {
		t.Errorf("its output is gone: %v", err)
	}
	w.write("go", "")
	w.must("wait", id)
	w.killServer()
	w.must("forget", id) // which needs a coordinator
	if next := strings.TrimSpace(w.must("bag", "--detach", "--", "true", ":::", "x").stdout); next != "bag-5" {
		t.Errorf("the next job is %s", next)
	}
	w.must("wait")
}
