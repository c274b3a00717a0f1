package test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/event"
)

// TestPausedCoordinator stops a coordinator whose lock has no effect, as on a file system whose
// locks do not work between machines. Another coordinator replaces it. When the first one
// continues, it writes nothing and ends, and the journals are undamaged.
func TestPausedCoordinator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tasks = 200
	w.must("bag", "--workers", "2", "--detach", "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "out/{task}", "--stderr", "none",
		"--", "sh", "-c", "sleep 0.2; echo $BERTH_TASK_ID")
	id := w.jobs()[0]
	if !w.reach(id, 20) {
		t.Fatal("the job is over already")
	}
	first := w.berths(coordinatorRole)
	if len(first) != 1 {
		t.Fatalf("coordinators %v", first)
	}
	if err := syscall.Kill(first[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.home().Lock()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.home().Socket()); err != nil { // a stopped process would still accept connections
		t.Fatal(err)
	}
	w.must("server", "start")
	begun := len(w.records(id))
	if err := syscall.Kill(first[0], syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.await("the end of the first coordinator", func() bool { return !w.isBerth(first[0], coordinatorRole) })
	w.must("wait", string(id))
	all := w.records(id)
	if len(all) <= begun {
		t.Errorf("%d records before the first went on, %d after", begun, len(all))
	}
	checkOnce(t, all)
	checkOneWriter(t, all, w.serverRecords())
	for i := 1; i <= tasks; i++ {
		if got := w.read(fmt.Sprintf("out/%d", i)); got != fmt.Sprintln(i) {
			t.Errorf("task %d wrote %q", i, got)
		}
	}
	log, err := os.ReadFile(w.home().ServerLog())
	if err != nil || !strings.Contains(string(log), "another coordinator has taken over") {
		t.Errorf("the log does not say so: %v", err)
	}
}

// checkOneWriter checks that each number of a record is used once, and that the numbers grow.
func checkOneWriter(t *testing.T, journals ...[]event.Entry) {
	t.Helper()
	seen := map[uint64]bool{}
	for _, all := range journals {
		last := uint64(0)
		for _, e := range all {
			if e.Seq <= last || seen[e.Seq] {
				t.Errorf("record number %d after %d, seen before: %t", e.Seq, last, seen[e.Seq])
			}
			last, seen[e.Seq] = e.Seq, true
		}
	}
}
