package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBatchLater starts the coordinator in an environment without the batch system: none of its commands is on
// PATH. Later jobs, from environments of two clusters, run on these clusters at
// the same time. A job continues when its coordinator is killed and started again without the batch system in its environment.
func TestBatchLater(t *testing.T) { onEach(t, testLater) }

func testLater(t *testing.T, s system) {
	s.atLeisure(t)
	one, two := s.start(t, 2), s.start(t, 2)
	w := newWorld(t)
	// Without a batch system a coordinator listens for this machine alone.
	nowhere := []string{noBatch, "PATH=/nonexistent", "BERTH_LISTEN=0.0.0.0"}
	w.batch = nowhere
	w.must("server", "start")
	bag := func(c cluster, out string) []string {
		w.batch = c.env()
		return []string{"bag", "--on", s.name, "--array", "1-4", "--stdout", out + "/{task}", "--", "sh", "-c", "sleep 2; echo $" + s.names}
	}
	check := func(c cluster, out string) {
		t.Helper()
		for _, task := range []string{"1", "4"} {
			text, err := os.ReadFile(filepath.Join(w.dir, out, task))
			if err != nil || s.names+"="+strings.TrimSpace(string(text)) != c.env()[0] {
				t.Errorf("task %s of %s ran with %s %q, %v", task, out, s.names, text, err)
			}
		}
		w.await("a job of ours on the cluster", func() bool {
			ran, err := c.ran() // accounting is written some seconds later
			return ran && err == nil
		})
	}
	first := w.start(bag(one, "one")...)
	second := w.start(bag(two, "two")...)
	for _, r := range []*running{first, second} {
		if got := w.finish(r); got.code != 0 {
			t.Fatal(got)
		}
	}
	check(one, "one")
	check(two, "two")

	args := bag(one, "again")
	id := strings.TrimSpace(w.must(append([]string{args[0], "--detach"}, args[1:]...)...).stdout)
	w.killServer()
	w.batch = nowhere
	w.must("wait", id)
	check(one, "again")
}
