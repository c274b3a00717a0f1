package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/driver"
)

// TestBatchCores: a command inside a batch job has the cores of that job on this host.
func TestBatchCores(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("other 8 q UNDEFINED\nme.example.org 2 q UNDEFINED\nme 1 p UNDEFINED\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  string
		want int
		by   string
	}{
		{"", 0, ""},
		{"SLURM_CPUS_PER_TASK=2", 0, ""}, // without a job
		{"SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=8 SLURM_JOB_CPUS_PER_NODE=8 SLURM_CPUS_PER_TASK=2 SLURM_TASKS_PER_NODE=4", 8, "SLURM_CPUS_ON_NODE"},
		{"SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=8 SLURM_CPUS_PER_TASK=2 SLURM_TASKS_PER_NODE=4 SLURM_STEP_ID=0", 2, "SLURM_CPUS_PER_TASK"},
		{"SLURM_JOB_ID=1 SLURM_CPUS_ON_NODE=8 SLURM_CPUS_PER_TASK=2", 2, "SLURM_CPUS_PER_TASK"},
		{"SLURM_JOB_ID=1 SLURM_JOB_CPUS_PER_NODE=4,8 SLURM_JOB_NUM_NODES=2 SLURM_CPUS_ON_NODE=8", 8, "SLURM_CPUS_ON_NODE"},
		{"SLURM_JOB_ID=1 SLURM_JOB_CPUS_PER_NODE=3 SLURM_JOB_NUM_NODES=1", 3, "SLURM_JOB_CPUS_PER_NODE"},
		{"PBS_JOBID=1.a NCPUS=3", 3, "NCPUS"},
		{"NCPUS=3", 0, ""},
		{"JOB_ID=1 NSLOTS=1", 1, "NSLOTS"},
		{"JOB_ID=1 NSLOTS=11 PE_HOSTFILE=" + hosts, 3, "PE_HOSTFILE"},
		{"JOB_ID=1 NSLOTS=11 PE_HOSTFILE=/none", 11, "NSLOTS"},
		{"JOB_ID=1 NSLOTS=x", 0, ""},
	} {
		var got driver.BatchCores
		for _, w := range Words() {
			of := w.Cores(strings.Fields(c.env), "me")
			got.Least(of.Variable, of.N)
		}
		if got.N != c.want || got.Variable != c.by {
			t.Errorf("%s: %+v, want %d by %q", c.env, got, c.want, c.by)
		}
	}
}
