#!/bin/bash
# Runs jobs of equal tasks without a slow one for real, under each rule on slow tasks, and prints how many of their attempts were killed or
# duplicated: none should be. Programs that compute burn the machine's cores meanwhile. Each run has a coordinator of its own with ten workers.
#
#   healthy.sh BERTH RUNS AT_ONCE [RULE…]      COMPUTE=2 makes tasks of the last kind compute for two seconds instead of ten; KINDS=3 runs those alone
set -euo pipefail
berth=$(realpath "$1") runs=$2 at_once=$3
shift 3
(($#)) || set -- paper paper-abort berth
dir=$(mktemp -d /tmp/healthy.XXXXXX) burners=()
trap 'kill "${burners[@]}" 2>/dev/null || true; rm -rf "$dir"' EXIT
for ((i = 0; i < 2 * $(nproc); i++)); do
	(while :; do :; done) &
	burners+=($!)
done

# What a task does: in 20 seconds nothing, or it writes a little ten times a second, or it computes a little in each second; the last kind computes
# all the time, for ten seconds of processor time.
# shellcheck disable=SC2016 # the task's shell expands them
tasks=('sleep 20'
	'for i in $(seq 200); do echo "$i" >&2; sleep 0.1; done'
	'for i in $(seq 20); do k=0; while [ $k -lt 2000 ]; do k=$((k+1)); done; sleep 1; done'
	'exec python3 -c "while __import__(\"time\").process_time() < '"${COMPUTE:-10}"': pass"')
read -ra kinds <<<"${KINDS:-0 1 2 3}"

# run RULE NUMBER: prints kind, seconds, attempts and killed ones of a job.
run() {
	local rule=$1 state=$dir/$1.$2 kind=${kinds[$2 % ${#kinds[@]}]} how=duplicate id
	[[ $rule != *abort* ]] || how=abort
	mkdir -p "$state"
	cd "$state"
	export XDG_STATE_HOME=$state SLURM_CONF=/dev/null NO_COLOR=1
	"$berth" server start --straggler-rule "$rule" >log 2>&1
	"$berth" bag --on local --workers 10 --array 1-8 --duplicates-ok --speculation 100% --stragglers "$how" --job-name healthy -- sh -c "${tasks[kind]}" >>log 2>&1 || true
	id=$("$berth" status --all --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["jobs"][-1]["id"])')
	"$berth" report "$id" --tasks --json >report.json
	"$berth" progress "$id" --json >progress.json
	"$berth" server stop --force >>log 2>&1
	python3 - "$kind" <<-'PY'
		import datetime, json, sys
		v = json.load(open("progress.json"))
		at = lambda key: datetime.datetime.fromisoformat(v[key].replace("Z", "+00:00").split(".")[0].removesuffix("+00:00"))
		a = v["attempts"]
		print(sys.argv[1], (at("ended") - at("started")).total_seconds(), a["started"], a["killed"], a["done"])
	PY
}

echo '| rule | runs | tasks | attempts beyond one a task | killed | runs with any | longest run, s | load average |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|'
for rule; do
	for ((n = 0; n < runs; n++)); do
		while (($(jobs -rp | wc -l) >= at_once + ${#burners[@]})); do sleep 0.2; done
		(run "$rule" "$n" >"$dir/$rule.$n.row" 2>"$dir/$rule.$n.err" || cat "$dir/$rule.$n.err" >&2) &
	done
	while (($(jobs -rp | wc -l) > ${#burners[@]})); do sleep 0.2; done
	cat "$dir/$rule".*.row | awk -v rule="$rule" -v loads="$(cut -d ' ' -f 2 /proc/loadavg)" '
		{ n++; more += $3 - 8; killed += $4; done += $5; if ($3 > 8 || $4 > 0) any++; if ($2 > longest) longest = $2 }
		END { printf "| `%s` | %d | %d | %d | %d | %d | %d | %s |\n", rule, n, done, more, killed, any, longest, loads }'
	grep -H . /dev/null "$dir/$rule".*.row | awk '$3 > 8 || $4 > 0' >&2 || true
done
