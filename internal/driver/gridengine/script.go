package gridengine

import (
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// exitFile is the file in an allocation's folder to which the script writes its exit status. It exists if the script has ended by
// itself, which the accounting of Grid Engine says later, or never.
const exitFile = "script.exit"

// Script returns the script that is submitted.
//
// The first host of the job runs the script, and its worker is started directly, since job_is_first_task leaves no slot there for
// qrsh. For each other host qrsh -inherit starts the worker and passes its exit status on. qrsh is not on PATH in jobs. It joins its
// arguments to one line for the login shell of the user, which may be a C shell. A worker whose qrsh was killed is started again;
// the script of the node sees to it that only one continues. qrsh is tried 20 times for a node, 5 s apart, as its daemon may not answer at
// that moment.
func (s *System) Script(comment, dir string) string {
	return `#!/bin/sh
# ` + comment + `: starts one berth worker on each node of this Grid Engine job.
dir=` + job.Quote(dir) + `
exec >>"$dir/` + Name + `.log" 2>&1 || exit 1
step=$JOB_ID.$$.$(date +%s)
berth_path=$PATH
PATH=$PATH:$SGE_BINARY_PATH:$SGE_ROOT/bin/$SGE_ARCH
: "${TMPDIR:=$TMP}"
export TMPDIR
pids= ending=
trap 'ending=yes; kill $pids 2>/dev/null' TERM

ended() { [ -e "$dir/$1` + batch.EndedEnd + `" ] || [ -e "$dir/$1` + batch.FailedEnd + `" ]; }

# distant RANK HOST: runs a worker on another host.
distant() {
	try=0
	while :; do
		qrsh -inherit -nostdin "$2" "exec env berth_rank=$1 berth_node=$2 berth_step=$step.$try /bin/sh ` + quoteTwice(dir+"/"+batch.NodeScript) + `"
		status=$?
		[ $status -ne 0 ] && [ -z "$ending" ] && [ $try -lt 20 ] && ! ended "$1" || return $status
		try=$((try + 1))
		echo "qrsh for $2 ended with status $status before its worker did"
		sleep 5
	done
}

hosts=$(awk '!seen[$1]++ {print $1}' "${PE_HOSTFILE:-/dev/null}")
rank=0 failed=0
for host in ${hosts:-$(echo "${HOSTNAME:-$(hostname)}")}; do
	if [ $rank -eq 0 ]; then
		berth_rank=0 berth_node=$host berth_step=$step PATH=$berth_path /bin/sh "$dir/` + batch.NodeScript + `" &
	else
		distant $rank "$host" &
	fi
	pids="$pids $!" rank=$((rank + 1))
done
for pid in $pids; do
	wait "$pid" || failed=$?
done
(umask 077 && echo $failed >"$dir/` + exitFile + `") 2>/dev/null
exit $failed
`
}

// NodeVariables sets the variables that a node's script needs.
func (s *System) NodeVariables() string {
	return `rank=$berth_rank node=$berth_node step=$berth_step
unset berth_rank berth_node berth_step
`
}

// quoteTwice quotes a path for a shell that qrsh starts, inside double quotes of the script.
func quoteTwice(path string) string {
	return strings.NewReplacer(`"`, `\"`, `$`, `\$`, "`", "\\`", `\`, `\\`).Replace(job.Quote(path))
}
