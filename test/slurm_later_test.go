package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/support/slurmtest"
)

// TestSlurmLater starts the coordinator in an environment without Slurm: no command of Slurm is on
// PATH. Later jobs, from environments of two clusters, run on these clusters at
// the same time. A job continues when its coordinator is killed and started again without Slurm in its environment.
func TestSlurmLater(t *testing.T) {
	t.Parallel()
	one, two := slurmtest.Start(t, slurmtest.Nodes(2)), slurmtest.Start(t, slurmtest.Nodes(2))
	w := newWorld(t)
	nowhere := []string{noBatch, "PATH=/nonexistent"}
	w.batch = nowhere
	w.must("server", "start")
	bag := func(c *slurmtest.Cluster, out string) []string {
		w.batch = c.Env()
		return []string{"bag", "--array", "1-4", "--stdout", out + "/{task}", "--", "sh", "-c", "sleep 2; echo $SLURM_CONF"}
	}
	check := func(c *slurmtest.Cluster, out string) {
		t.Helper()
		for _, task := range []string{"1", "4"} {
			text, err := os.ReadFile(filepath.Join(w.dir, out, task))
			if err != nil || "SLURM_CONF="+strings.TrimSpace(string(text)) != c.Env()[0] {
				t.Errorf("task %s of %s ran with SLURM_CONF %q, %v", task, out, text, err)
			}
		}
		if jobs, err := c.Try("scontrol", "--oneliner", "show", "jobs"); err != nil || !strings.Contains(jobs, "JobName=berth") {
			t.Errorf("the cluster has seen no job of ours: %s, %v", jobs, err)
		}
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
