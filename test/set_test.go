package test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestSet changes jobs while they run: of two that wait the one that got a higher priority goes first, and what was set holds after the
// coordinator has died.
func TestSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bag := func(name string) {
		w.must("bag", "--detach", "-c", fmt.Sprint(runtime.NumCPU()), "--", "until [ -e go ]; do sleep 0.05; done; echo {} >>order; exit 3", ":::", name)
	}
	for _, name := range []string{"a", "b", "c"} {
		bag(name)
	}
	w.await("the first task to run", func() bool { return strings.Contains(w.must("status", "bag-1", "1").stdout, "running") })
	if r := w.berth("set", "bag-1", "partition=p"); r.code != 1 || !strings.Contains(r.stderr, "berth resume JOB --partition") {
		t.Errorf("want an error with the way that is left: %v", r)
	}
	w.must("set", "bag-3", "priority=7", "retries=1")
	w.killServer()
	if out := w.must("report", "bag-3").stdout; !strings.Contains(out, "priority") {
		t.Errorf("the report does not tell the priority:\n%s", out)
	}
	w.write("go", "") // for the tasks and the coordinator that follows
	w.berth("wait", "bag-1", "bag-2", "bag-3")
	if order := strings.Fields(w.read("order")); fmt.Sprint(order) != "[a c c b]" {
		t.Errorf("tasks ran in the order %v", order)
	}
	if r := w.berth("set", "bag-2", "priority=1"); r.code != 1 || !strings.Contains(r.stderr, "berth resume bag-2") {
		t.Errorf("a job that is over was changed: %v", r)
	}
}
