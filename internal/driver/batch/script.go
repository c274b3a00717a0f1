package batch

import (
	"berth/internal/core/job"
	"fmt"
)

// Names of files in an allocation's folder, beside the files of its ranks and the output of its job.
const (
	NodeScript = "node.sh" // what System.Script starts on each node

	jobFile     = "job"     // the output of the submitting command, with the job's id
	clusterFile = "cluster" // which cluster the allocation is on (cluster.Queue.ID)
)

// Suffixes of the names of a rank's files.
const (
	configEnd = ".json"   // wire.WorkerConfig
	bundleEnd = ".pem"    // keys
	logEnd    = ".log"    // the worker's log
	hostEnd   = ".host"   // the batch system's name of the rank's node, written when the loop starts
	EndedEnd  = ".ended"  // exists once the worker has ended as the coordinator told it to
	FailedEnd = ".failed" // exists once the loop has given up
	ownerEnd  = ".owner"  // the loop that owns the rank
)

// Limits of the loop around a worker.
const (
	// maxFailures is the number of consecutive failures after which the loop gives up. A worker
	// that was killed did not fail and is started again at once: the engine handles tasks that
	// kill their workers. A worker whose coordinator is away for long fails, too. The end of the
	// loop then gives the nodes back.
	maxFailures = 5
	// goodRun is the run time of a worker, in seconds, after which earlier failures do not count.
	goodRun = 3600
)

// nodeText returns the script of each node: the loop around its worker. The loop passes the signal
// to end on to the worker, whether or not the worker got it, too.
//
// A controller that dies may forget a job. The job's processes continue while another job is
// submitted in its place. Then the loop that started last owns the rank. The earlier loop ends when
// its worker ends: the coordinator ends that worker when the later worker connects.
//
// variables are the lines that set rank, node and step (System.NodeVariables).
func nodeText(variables, exe, dir, scratch string) string {
	return fmt.Sprintf(`#!/bin/sh
# Runs the berth worker of one node, and starts it again when it dies.
cd /
%sme=%s/$rank
log=$me%s
[ ! -e "$me%s" ] || exit 0
[ ! -e "$me%s" ] || exit 1
(umask 077 && : >>"$log") # tasks keep the user's umask
(umask 077 && echo "$node" >"$me%s")
loop="$step $node $$"
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
		wait "$worker" # a signal interrupted the wait before
	done
	worker=
	[ -z "$ending" ] || break
	if [ $status -eq 0 ]; then
		(umask 077 && : >"$me%s")
		break
	fi
	owner=$(cat "$me%s")
	[ "${owner:-$loop}" = "$loop" ] || break # another loop owns the rank
	ran=$(($(date +%%s) - began))
	echo "$node: the worker ended with status $status after $ran s"
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
rmdir %s 2>/dev/null # on a local disk of this node the folder is empty now
exit 0
`, variables, job.Quote(dir), logEnd, EndedEnd, FailedEnd, hostEnd, ownerEnd, job.Quote(exe), configEnd, EndedEnd, ownerEnd, goodRun, maxFailures, FailedEnd, job.Quote(scratch))
}
