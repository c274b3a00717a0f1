package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of files in an allocation's folder, beside those of its ranks.
const (
	slurmLog   = "slurm.log" // what Slurm and the scripts say
	nodeScript = "node.sh"   // what srun starts on each node
	jobFile    = "job"       // the Slurm job's id, as sbatch printed it

	clusterFile = "cluster" // which cluster the allocation is on (Options.Cluster)
)

// Ends of names of a rank's files.
const (
	configEnd = ".json"   // driver.WorkerConfig
	bundleEnd = ".pem"    // keys
	logEnd    = ".log"    // the worker's
	hostEnd   = ".host"   // Slurm's name of its node, once its loop has begun
	endedEnd  = ".ended"  // there once the worker has ended because it was told to
	failedEnd = ".failed" // there once the loop has given up
	ownerEnd  = ".owner"  // which loop has the rank
)

// Limits of the loop around a worker.
const (
	// maxFailures is how often in a row a worker may fail. One that was killed did not
	// fail, it is started again at once: tasks that kill their workers are the engine's
	// business. One whose coordinator is away for long fails, too; that the loop
	// ends then gives the nodes back.
	maxFailures = 5
	// goodRun is how long a worker runs, seconds, so that failures before do not count.
	goodRun = 3600
	// srunTries is how often srun is tried: the controller, which has to agree to a step, may be
	// away just then, or srun be killed. srunPause is between, seconds.
	srunTries = 20
	srunPause = 5
)

// batchText is the script that is submitted.
//
// srun does not take over sbatch's options for CPUs (since 22.05), which are said again. One
// step takes all of the allocation: --mem=0 is all of its memory. Workers bind nothing
// themselves, and srun shall not either (--cpu-bind). The step goes on when a worker or a node
// of several fails. Slurm sends SIGTERM to all processes of a job that is cancelled or out of time,
// and SIGKILL later (KillWait): srun is left to wait for its workers meanwhile. A step that ends
// before any of its workers has ended by itself is begun anew, on the nodes that are left. Where
// only srun was killed its workers live on; the next srun waits until they end.
func batchText(name, dir string) string {
	return `#!/bin/sh
# ` + name + `: starts one berth worker on each node of this Slurm job.
dir=` + quote(dir) + `
try=0 ending= nodes=$SLURM_JOB_NUM_NODES
trap 'ending=yes' TERM
while :; do
	srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 \
		--cpus-per-task="$SLURM_CPUS_PER_TASK" --mem=0 --cpu-bind=none --export=ALL --input=none \
		--kill-on-bad-exit=0 --no-kill --wait=0 /bin/sh "$dir/` + nodeScript + `"
	status=$?
	[ $status -ne 0 ] && [ -z "$ending" ] && [ $try -lt ` + strconv.Itoa(srunTries) + ` ] || exit $status
	for end in "$dir"/*` + endedEnd + ` "$dir"/*` + failedEnd + `; do
		! [ -e "$end" ] || exit $status
	done
	try=$((try + 1))
	echo "srun ended with status $status before its workers did"
	sleep ` + strconv.Itoa(srunPause) + `
	left=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%D 2>/dev/null)
	nodes=${left:-$nodes}
done
`
}

// nodeText is what runs on each node: the loop around its worker. The signal to end reaches
// the loop and, from it, the worker, whoever else gets it.
//
// A controller that dies may forget a job, whose processes live on while another is
// submitted in its place. The loop that began last has the rank; the other ends with its
// worker, which that of the last one ends.
func nodeText(exe, dir, scratch string) string {
	return fmt.Sprintf(`#!/bin/sh
# Runs the berth worker of one node, and starts it again when it dies.
cd /
me=%s/$SLURM_PROCID
log=$me%s
[ ! -e "$me%s" ] || exit 0
[ ! -e "$me%s" ] || exit 1
(umask 077 && : >>"$log") # tasks keep the user's umask
(umask 077 && echo "$SLURMD_NODENAME" >"$me%s")
loop="$SLURM_JOB_ID.$SLURM_STEP_ID $SLURMD_NODENAME $$"
(umask 077 && echo "$loop" >"$me%s")
worker= ending= failures=0
trap 'ending=yes; [ -z "$worker" ] || kill -TERM "$worker"' TERM
while [ -z "$ending" ]; do
	began=$(date +%%s)
	%s worker --config "$me%s" </dev/null >>"$log" 2>&1 &
	worker=$!
	[ -z "$ending" ] || kill -TERM "$worker"
	wait "$worker"
	status=$?
	while [ -n "$ending" ] && kill -0 "$worker" 2>/dev/null; do
		wait "$worker" # the signal ended the waiting before
	done
	worker=
	[ -z "$ending" ] || break
	if [ $status -eq 0 ]; then
		(umask 077 && : >"$me%s")
		break
	fi
	owner=$(cat "$me%s")
	[ "${owner:-$loop}" = "$loop" ] || break # another has the rank
	ran=$(($(date +%%s) - began))
	echo "$SLURMD_NODENAME: the worker ended with status $status after $ran s"
	if [ $status -gt 128 ]; then
		failures=0 # it was killed
		continue
	fi
	[ $ran -lt %d ] || failures=0
	failures=$((failures + 1))
	if [ $failures -ge %d ]; then
		(umask 077 && : >"$me%s")
		exit 1
	fi
	[ $ran -ge 10 ] || sleep $failures
done
rmdir %s 2>/dev/null # a folder of this node's own is empty now
exit 0
`, quote(dir), logEnd, endedEnd, failedEnd, hostEnd, ownerEnd, quote(exe), configEnd, endedEnd, ownerEnd, goodRun, maxFailures, failedEnd, quote(scratch))
}

// quote quotes a word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
