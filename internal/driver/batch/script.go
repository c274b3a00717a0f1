package batch

import (
	"fmt"
	"strings"
)

// Names of files in an allocation's folder, beside those of its ranks and the output of its job.
const (
	NodeScript = "node.sh" // what System.Script starts on each node

	jobFile     = "job"     // what the submitting command printed, which names the job
	clusterFile = "cluster" // which cluster the allocation is on (cluster.Queue.ID)
)

// Ends of names of a rank's files.
const (
	configEnd = ".json"   // wire.WorkerConfig
	bundleEnd = ".pem"    // keys
	logEnd    = ".log"    // the worker's
	hostEnd   = ".host"   // the batch system's name of its node, once its loop has begun
	EndedEnd  = ".ended"  // there once the worker has ended because it was told to
	FailedEnd = ".failed" // there once the loop has given up
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
)

// nodeText is what runs on each node: the loop around its worker. The signal to end reaches
// the loop and, from it, the worker, whoever else gets it.
//
// A controller that dies may forget a job, whose processes live on while another is
// submitted in its place. The loop that began last has the rank; the other ends with its
// worker, which that of the last one ends.
//
// variables are lines that set rank, node and step (System.NodeVariables).
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
rmdir %s 2>/dev/null # a folder of this node's own is empty now
exit 0
`, variables, Quote(dir), logEnd, EndedEnd, FailedEnd, hostEnd, ownerEnd, Quote(exe), configEnd, EndedEnd, ownerEnd, goodRun, maxFailures, FailedEnd, Quote(scratch))
}

// Quote quotes a word for the shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
