package pbs

import (
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// overEnd is the suffix of the file that says that the script of a rank has ended.
const overEnd = ".over"

// nodesFile is the name of the file with the names of the job's nodes, one a line by rank.
const nodesFile = "nodes"

// Script returns the script that is submitted.
//
// pbsdsh starts one process for each chunk, and waits for all of them. Its exit status says nothing about theirs, so each writes a file at
// its end. If pbsdsh ends before any of them, as it was killed or its node's daemon was started anew, it is started again. PBS sends SIGTERM
// to all processes of the job on the first node, and pbsdsh ends at once; then the script waits for the worker beside it, if that has begun, as PBS kills what is
// left when the script ends. On other nodes PBS sends SIGKILL only. Nothing may be started after that signal: PBS forgets the job's end if a
// task begins while it ends the others, and the job keeps its nodes. PBS replaces the file for a job's output at the end, and the
// nodes' file is only on the first node, so the script writes both itself. pbsdsh is started 20 times at most, 5 s apart, and the worker
// beside the script has 30 s to end after the signal.
func (s *System) Script(comment, dir string) string {
	return `#!/bin/sh
# ` + comment + `: starts one berth worker on each node of this PBS job.
dir=` + job.Quote(dir) + `
exec >>"$dir/` + Name + `.log" 2>&1
` + s.exports() + `config=${PBS_CONF_FILE:-` + defaultConfig + `}
[ ! -r "$config" ] || . "$config"
start=$PBS_EXEC/bin/pbsdsh
[ -x "$start" ] || start=pbsdsh
(umask 077 && cat "$PBS_NODEFILE" >"$dir/` + nodesFile + `")
try=0 ending= waited=0
trap 'ending=yes' TERM
while [ -z "$ending" ]; do
	"$start" -- /bin/sh -c 'trap : TERM; /bin/sh "$0/` + batch.NodeScript + `"; umask 077; : >"$0/$PBS_NODENUM` + overEnd + `"' "$dir" &
	pbsdsh=$!
	[ -z "$ending" ] || kill "$pbsdsh"
	wait "$pbsdsh"
	status=$?
	[ -z "$ending" ] || break
	for over in "$dir"/*` + overEnd + `; do
		! [ -e "$over" ] || exit 0
	done
	[ $try -lt 20 ] || exit 1
	try=$((try + 1))
	echo "pbsdsh ended with status $status before its workers did"
	sleep 5
done
while [ -e "$dir/0.host" ] && [ ! -e "$dir/0` + overEnd + `" ] && [ $waited -lt 30 ]; do
	waited=$((waited + 1))
	sleep 1
done
`
}

// NodeVariables sets the variables that a node's script needs. The name of the node is that in the job's list of nodes.
func (s *System) NodeVariables() string {
	return `rank=$PBS_NODENUM step=$PBS_JOBID.$PBS_TASKNUM
node=$(sed -n "$((rank + 1))p" "${0%/*}/` + nodesFile + `")
node=${node:-$(hostname)}
`
}
