package slurm

import (
	"strconv"

	"berth/internal/driver/batch"
)

// srunTries is how often srun is tried: the controller, which has to agree to a step, may be
// away just then, or srun be killed. srunPause is between, seconds.
const (
	srunTries = 20
	srunPause = 5
)

// Script is the script that is submitted.
//
// srun does not take over sbatch's options for CPUs (since 22.05), which are said again. One
// step takes all of the allocation: --mem=0 is all of its memory. Workers bind nothing
// themselves, and srun shall not either (--cpu-bind). The step goes on when a worker or a node
// of several fails. Slurm sends SIGTERM to all processes of a job that is cancelled or out of time,
// and SIGKILL later (KillWait): srun is left to wait for its workers meanwhile. A step that ends
// before any of its workers has ended by itself is begun anew, on the nodes that are left, unless Slurm
// ended it for the memory that it used: the same tasks would use it again. Where only srun was killed
// its workers live on; the next srun waits until they end.
func (s *System) Script(comment, dir string) string {
	return `#!/bin/sh
# ` + comment + `: starts one berth worker on each node of this Slurm job.
dir=` + batch.Quote(dir) + `
try=0 ending= nodes=$SLURM_JOB_NUM_NODES
trap 'ending=yes' TERM
while :; do
	srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 \
		--cpus-per-task="$SLURM_CPUS_PER_TASK" --mem=0 --cpu-bind=none --export=ALL --input=none \
		--kill-on-bad-exit=0 --no-kill --wait=0 /bin/sh "$dir/` + batch.NodeScript + `"
	status=$?
	[ $status -ne 0 ] && [ -z "$ending" ] && [ $try -lt ` + strconv.Itoa(srunTries) + ` ] || exit $status
	for end in "$dir"/*` + batch.EndedEnd + ` "$dir"/*` + batch.FailedEnd + `; do
		! [ -e "$end" ] || exit $status
	done
	! grep -q '` + memoryKills[0] + `' "$dir/` + Name + `.log" || exit $status
	try=$((try + 1))
	echo "srun ended with status $status before its workers did"
	sleep ` + strconv.Itoa(srunPause) + `
	left=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%D 2>/dev/null)
	nodes=${left:-$nodes}
done
`
}

// NodeVariables sets what the script of a node needs to know.
func (s *System) NodeVariables() string {
	return `rank=$SLURM_PROCID node=$SLURMD_NODENAME step=$SLURM_JOB_ID.$SLURM_STEP_ID
`
}
