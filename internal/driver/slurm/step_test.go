package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
	"berth/test/support/batchtest"
	"berth/test/support/slurmtest"
)

// testStep kills srun, and then a worker. The other workers continue, and the killed one is started again.
func testStep(t *testing.T, c *slurmtest.Cluster) {
	b := batchtest.NewBed(t, system, c, "echo $$ >>\"$3.pids\"\n"+batchtest.Idle)
	b.Request("a1", 2, job.Batch{})
	b.Up("a1")
	pids := func(rank string) []string {
		text, _ := os.ReadFile(b.File("a1", rank+".json.pids"))
		return strings.Fields(string(text))
	}
	b.Poll("both workers run", func() bool { return len(pids("0")) == 1 && len(pids("1")) == 1 })
	killSrun(t, b.File("a1", batch.NodeScript))
	b.Poll("srun is started again", func() bool {
		text, _ := os.ReadFile(b.File("a1", "slurm.log"))
		return strings.Contains(string(text), "srun ended with status 137")
	})
	worker, err := strconv.Atoi(pids("0")[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(worker, syscall.SIGKILL); err != nil {
		t.Fatalf("the worker is gone: %v", err)
	}
	b.Poll("the worker is replaced", func() bool { return len(pids("0")) == 2 })
	if state, err := c.State(b.Job("a1")); state != "RUNNING" || len(pids("1")) != 1 {
		t.Errorf("the job is %s (%v); workers of the other rank: %v", state, err, pids("1"))
	}
}

// killSrun kills the srun that runs a script. srun is two processes, and the second one ends the step
// when the first one dies. Both are stopped before the first is killed, as it would be a race otherwise.
func killSrun(t *testing.T, script string) {
	t.Helper()
	pids := processes(t, script, "srun")
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal) // the other may follow the one that was killed
		}
	}
}

// processes returns the processes with this name and this argument.
func processes(t *testing.T, argument, name string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		line, err := os.ReadFile(file)
		comm, commErr := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
		if err != nil || commErr != nil || strings.TrimSpace(string(comm)) != name || !slices.Contains(strings.Split(string(line), "\x00"), argument) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		t.Fatalf("no process is called %s and has the argument %s", name, argument)
	}
	return pids
}
