package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/test/support/slurmtest"
)

// outerJob are variables of jobs in which a user may be when submitting.
var outerJob = []string{"SLURM_JOBID=outer", "SLURM_JOB_NODELIST=outer", "SLURM_NODELIST=outer", "SLURM_TRES_PER_TASK=outer", "SLURM_CPU_BIND=outer", "SRUN_DEBUG=outer", "PMI_RANK=outer", "PMIX_RANK=outer",
	"PBS_NODEFILE=outer", "PBS_ENVIRONMENT=outer", "PBS_JOBDIR=outer", "PE_HOSTFILE=outer", "QUEUE=outer", "RESTARTED=outer", "SGE_O_HOST=outer", "OMPI_COMM_WORLD_RANK=outer", "HYDI_CONTROL_FD=outer",
	"BERTH_TASK_ID=outer", "BERTH_STAGE=outer"}

// checkEnvironment checks that tasks have nothing of another job's environment, all that their user has set, and the folder for temporary files of their
// own batch job.
func (w *world) checkEnvironment() {
	w.t.Helper()
	batch := w.batch
	defer func() { w.batch = batch }()
	users := []string{"BERTH_MY_OWN=mine", "OMPI_MCA_btl=mine", "SQUEUE_FORMAT=mine", "PBS_QSUB_ARGS=", "SGE_CLUSTER_NAME=mine"}
	w.batch = slices.Concat(batch, outerJob, users)
	w.must("bag", "--on", w.system.name, "--array", "1-1", "--stdout", "environment{task}", "--", "env")
	got := textLines(w.read("environment1"))
	for _, kv := range got {
		if strings.HasSuffix(kv, "=outer") {
			w.t.Errorf("%s reaches a task of another job", kv)
		}
	}
	for _, kv := range users {
		if !slices.Contains(got, kv) {
			w.t.Errorf("%s of the user does not reach the task", kv)
		}
	}
	login := "TMPDIR=" + filepath.Join(w.root, "tmp")
	if of := w.system.name; of != "slurm" && slices.Contains(got, login) { // Slurm has none of its own
		w.t.Errorf("on %s a task has %s of the login node", of, login)
	}
}

// TestStepsOfTasks: an srun in a task starts at once, on the task's node and with its memory, however many tasks do so; a job that a task submits
// is one of its own. What a site sets in a TaskProlog reaches the tasks.
func TestStepsOfTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	prolog := filepath.Join(w.root, "prolog")
	if err := os.WriteFile(prolog, []byte(`#!/bin/sh
mkdir -p "${TMPDIR:=/var/tmp}/own.$SLURM_JOB_ID"
echo "export TMPDIR=$TMPDIR/own.$SLURM_JOB_ID"
echo "export PATH=/site:$PATH"
echo export LICENSE=site
`), 0o700); err != nil {
		t.Fatal(err)
	}
	c := slurm{slurmtest.Start(t, slurmtest.Nodes(3), slurmtest.Extra("TaskProlog="+prolog))}
	w.system, w.batch = systems[0], append(c.env(), "PATH="+os.Getenv("PATH")+":/users", "LICENSE=users")
	w.write("task.sh", `#!/bin/sh
step() { srun "$@" sh -c 'echo $SLURMD_NODENAME $SLURM_MEM_PER_NODE'; }
[ "$(step -n1)" = "$SLURMD_NODENAME 100" ] || echo "a step is at $(step -n1)"
[ "$(step -n2 | sort -u)" = "$SLURMD_NODENAME 100" ] || echo "two ranks are at $(step -n2)"
[ "$SLURM_JOB_NODELIST $SLURM_NNODES $SLURM_NTASKS $SLURM_CPUS_ON_NODE" = "$SLURMD_NODENAME 1 1 1" ] || env
[ -z "$SLURM_STEP_ID$SLURM_STEPID$SLURM_SRUN_COMM_HOST" ] || echo "it is in a step"
case $PATH in /site:*:/users) ;; *) echo "PATH is $PATH" ;; esac
[ -d "$TMPDIR" ] && [ "${TMPDIR##*/}" = "own.$SLURM_JOB_ID" ] || echo "TMPDIR is $TMPDIR"
[ "$LICENSE" = site ] || echo "LICENSE is $LICENSE"
touch $1
until [ -e 1 ] && [ -e 2 ] && [ -e 3 ] && [ -e 4 ]; do sleep 0.1; done
`)
	w.must("bag", "--on", "slurm", "-N", "2-2", "-t", "5", "--no-scout", "--mem", "100M", "--stdout", "steps{task}", "--array", "1-4", "--", "./task.sh", "{}")
	for i := range 4 {
		if got := w.read(fmt.Sprintf("steps%d", i+1)); got != "" {
			t.Errorf("task %d says %s", i+1, got)
		}
	}
	w.must("bag", "--on", "slurm", "--stdout", "nested{task}", "--array", "1-1", "--", "unset SLURM_HOSTFILE; sbatch --wait --output=job --wrap 'srun sh -c \"echo \\$SLURM_JOB_ID\"' >/dev/null && ! grep -x $SLURM_JOB_ID job")
	if strings.TrimSpace(w.read("job")) == "" {
		t.Error("the job of a task has printed nothing")
	}
}
