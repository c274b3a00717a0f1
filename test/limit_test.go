package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimit: tasks of two bags together use no more than the limit, also after the coordinator has died; a name without a limit is refused with
// what to do, and a task that uses nothing waits for nobody.
func TestLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.berth("bag", "--use", "db=1", "--", "true", ":::", "a"); r.code == 0 || !strings.Contains(r.stderr, "berth limit db=N") {
		t.Fatalf("want an error that says how to set the limit: %v", r)
	}
	w.must("limit", "db=1")
	for range 2 {
		w.must("bag", "--detach", "-c", "1", "--use", "db=1", "--", "mkdir busy || echo {} >>twice; until [ -e go ]; do sleep 0.02; done; sleep 0.05; rmdir busy",
			":::", "a", "b", "c")
	}
	jobs := w.jobs()
	first, second := string(jobs[len(jobs)-2]), string(jobs[len(jobs)-1])
	w.await("a task to run", func() bool { return strings.Contains(w.must("limit").stdout, "db: 1 of 1 in use, 5 tasks wait") })
	w.killServer()
	w.write("lines", `{"command":"true","use":"none"}`+"\n")
	w.must("bag", "--use", "db=1", "--tasks", "lines")
	if out := w.must("explain", second).stdout; !strings.Contains(out, "wait for db=1 each: 1 of 1 are in use") {
		t.Errorf("it is not explained what tasks wait for:\n%s", out)
	}
	if r := w.berth("limit", "--remove", "db"); r.code == 0 {
		t.Errorf("a limit that jobs need was removed: %v", r)
	}
	w.write("go", "")
	w.must("wait", first, second)
	if twice, err := os.ReadFile(filepath.Join(w.dir, "twice")); err == nil {
		t.Errorf("two tasks ran at once: %q", twice)
	}
	w.must("limit", "--remove", "db")
	if out := w.must("limit").stdout; !strings.Contains(out, "there are no limits") {
		t.Errorf("the limit is still there: %s", out)
	}
}
