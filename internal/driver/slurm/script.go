package slurm

import (
	"strconv"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// Script returns the script that is submitted.
//
// Since version 22.05 srun does not use sbatch's options for CPUs, so the script repeats them. One
// step uses the whole allocation, --mem=0 is all of its memory, and shares it with the steps of tasks (SLURM_OVERLAP: versions before 20.11
// know no --overlap). Workers bind no processes to CPUs, and
// srun must not either (--cpu-bind). The step continues when a worker, or one of several nodes,
// fails. When a job is cancelled or reaches its wall time, Slurm sends SIGTERM to all its
// processes, and SIGKILL later (KillWait); meanwhile srun waits for its workers. A step that ends before
// any worker has ended by itself is started again on the remaining nodes. It is not started again if Slurm
// ended it for using too much memory, as the same tasks would use it again. If only srun was killed,
// its workers continue, and the next srun waits until they end. It is tried 20 times, 5 s apart, as the controller, which must allow a
// step, may not answer at that moment.
func (s *System) Script(comment, dir string) string {
	return `#!/bin/sh
# ` + comment + `: starts one berth worker on each node of this Slurm job.
dir=` + job.Quote(dir) + `
try=0 ending= nodes=$SLURM_JOB_NUM_NODES
trap 'ending=yes' TERM
while :; do
	SLURM_OVERLAP=1 srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 \
		--cpus-per-task="$SLURM_CPUS_PER_TASK" --mem=0 --cpu-bind=none --export=ALL --input=none \
		--kill-on-bad-exit=0 --no-kill --wait=0 /bin/sh "$dir/` + batch.NodeScript + `"
	status=$?
	[ $status -ne 0 ] && [ -z "$ending" ] && [ $try -lt 20 ] || exit $status
	for end in "$dir"/*` + batch.EndedEnd + ` "$dir"/*` + batch.FailedEnd + `; do
		! [ -e "$end" ] || exit $status
	done
	! grep -q '` + overMemory + `' "$dir/` + Name + `.log" || exit $status
	try=$((try + 1))
	echo "srun ended with status $status before its workers did"
	sleep 5
	left=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%D 2>/dev/null)
	nodes=${left:-$nodes}
done
`
}

// mostRanks is how many ranks an srun in a task can start where the allocation has several nodes.
const mostRanks = 1024

// hostsFile is the end of the name of the file with the name of a rank's node, once for each rank that srun may start there.
const hostsFile = "hosts"

// NodeVariables sets the variables that a node's script needs. Where the job has several nodes, the srun of a task needs a file to
// stay on that of the task: without one it begins with the first node of the job.
func (s *System) NodeVariables() string {
	return `rank=$SLURM_PROCID node=$SLURMD_NODENAME step=$SLURM_JOB_ID.$SLURM_STEP_ID
if [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ]; then
	SLURM_HOSTFILE=${0%/*}/$rank.` + hostsFile + `
	(umask 077 && yes "$node" | head -n ` + strconv.Itoa(mostRanks) + ` >"$SLURM_HOSTFILE") && export SLURM_HOSTFILE
fi
`
}
