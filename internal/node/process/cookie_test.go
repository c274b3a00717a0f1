package process

import "testing"

// TestSameJob: the processes of a task are known to belong to it, its steps of srun too, wherever the user submitted it. Those of a batch job that it
// submitted with its whole environment do not.
func TestSameJob(t *testing.T) {
	v := BatchVariables{Systems: []SystemVariables{{Job: "SLURM_JOB_ID", Names: []string{"SLURM_*"}, Tasks: []string{"SLURM_JOB_ID"}}, {Names: []string{"PMI_*"}}}}
	for _, node := range [][]string{nil, {"SLURM_JOB_ID=42", "SLURM_STEP_ID=0"}} {
		v.Node = node
		env := Cookie("BERTH_NODE=c").TaskEnv(v, []string{"SLURM_JOB_ID=7"}, Place{})
		same := func(more ...string) bool {
			return v.sameJob(append(env, more...))
		}
		if !same() || !same("SLURM_STEP_ID=3") || same("SLURM_JOB_ID=43") {
			t.Errorf("on %v: the task %t, its step %t, a job of its own %t", node, same(), same("SLURM_STEP_ID=3"), same("SLURM_JOB_ID=43"))
		}
	}
}
