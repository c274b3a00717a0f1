package test

import (
	"os"
	"strings"
	"testing"

	"berth/test/support/slurmtest"
)

// TestStartWithin: on a Slurm whose node another job has next, for an hour, a bag that would start within five minutes only is refused at once, and one
// whose start nobody predicts, as it comes after another, is withdrawn once its time is over. Both leave nothing in the queue and
// have an exit code of their own. The second one runs when it is resumed once the node is free.
func TestStartWithin(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skipf("it runs if %s is set, as make soak does", roundsVar)
	}
	t.Parallel()
	w, c := systems[0].world(t, 1)
	bed := c.(slurm).Cluster
	w.must("bag", "--on", "slurm", "--detach", "-c", "2", "--array", "1", "--", "sh", "-c", "touch runs; while [ ! -e go ]; do sleep 0.2; done")
	first := string(w.jobs()[0])
	w.await("the first bag to run", func() bool { _, err := os.Stat(w.dir + "/runs"); return err == nil })
	holder := bed.Fill(t, slurmtest.Load{Nodes: 1, CPUs: 2, Limit: 60, Seconds: 3600})

	bag := []string{"bag", "--on", "slurm", "--sbatch-arg=--comment=another", "--array", "1", "--start-within"}
	r := w.berth(append(bag, "5m", "--", "touch", "ran")...)
	if r.code != 102 || !strings.Contains(r.stderr, "the earliest is in ") || len(w.jobs()) != 1 {
		t.Fatalf("a bag that is predicted to start in an hour, %d jobs: %v", len(w.jobs()), r)
	}
	id := strings.TrimSpace(w.must(append(bag, "2s", "--after", first, "--detach", "--", "touch", "ran")...).stdout)
	w.write("go", "")
	if r := w.berth("wait", id); r.code != 102 || !strings.Contains(r.stdout+r.stderr, "did not start within 2s; nothing ran") {
		t.Fatalf("a bag that waits: %v", r)
	}
	w.await("the request to be withdrawn", func() bool { q, err := c.queue(); return err == nil && len(q) == 1 })
	if _, err := os.Stat(w.dir + "/ran"); err == nil {
		t.Error("a task has run")
	}
	bed.WaitState(t, holder, "RUNNING")
	bed.Cancel(t, holder)
	bed.WaitState(t, holder, "CANCELLED")
	w.must("resume", id, "--start-within", "10m")
	w.read("ran")
}
