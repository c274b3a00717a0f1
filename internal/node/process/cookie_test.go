package process

import (
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestBatchVariables: on a node of a batch system a task has the variables of the batch job that it is part of, not those that the user's
// command had, and its processes are still known to belong to it.
func TestBatchVariables(t *testing.T) {
	v := BatchVariables{Job: []string{"SLURM_JOB_ID"}, Index: []string{"SLURM_ARRAY_TASK_ID"}}
	user := []string{"A=1", "SLURM_JOB_ID=7", "SLURM_ARRAY_TASK_ID=3", "SLURM_CPUS_PER_TASK=9", "OMP_NUM_THREADS=1"}
	for _, tt := range []struct {
		node, cpus []string
		want       string
	}{
		{nil, nil, "A=1 SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=9 OMP_NUM_THREADS=1 BERTH_NODE=c BERTH_NODE_JOB=7"},
		{[]string{"SLURM_JOB_ID=42"}, []string{"SLURM_CPUS_PER_TASK"},
			"A=1 OMP_NUM_THREADS=1 SLURM_JOB_ID=42 SLURM_CPUS_PER_TASK=2 BERTH_NODE=c BERTH_NODE_JOB=42"},
	} {
		v.Node, v.CPUs = tt.node, tt.cpus
		env := ParseCookie("BERTH_NODE=c").TaskEnv(v, user, 2)
		if got := strings.Join(env, " "); got != tt.want {
			t.Errorf("%v: %s\nwant %s", tt.node, got, tt.want)
		}
		if !v.sameJob(func(name string) (string, bool) { return job.LookupEnv(env, name) }) {
			t.Errorf("%v: a process of the task is taken for one of another batch job", tt.node)
		}
	}
}
