#!/usr/bin/env bash
# Ten jobs with deadlines in real runs: seven on a private Slurm cluster of eight nodes with two cores each (scripts/slurm.sh), three on this
# machine. Tasks sleep, so that they take as long on a busy machine. It prints a row of a table for each job.
#
#   lab/deadlines/live.sh BERTH DIR     BERTH is the program, DIR a new folder; the cluster is removed at the end
set -euo pipefail
berth=$(realpath "$1") dir=$2 here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$dir/home"
cd "$dir"
export HOME=$PWD/home XDG_STATE_HOME=$PWD/state
unset BERTH_ON XDG_RUNTIME_DIR
"$here/scripts/slurm.sh" up "$PWD/slurm" >/dev/null
export SLURM_CONF=$PWD/slurm/slurm.conf
trap '"$berth" server stop >/dev/null 2>&1 || true; "$here/scripts/slurm.sh" down "$PWD/slurm" >/dev/null' EXIT

# row SITUATION NAME: what was planned of the job of that name, and how it ended.
row() {
	"$berth" status --all --json | python3 -c '
import json, sys
situation, name = sys.argv[1:]
job = [j for j in json.load(sys.stdin)["jobs"] if j["name"] == name][-1]
print(job["id"], job["state"], "%.0f" % job["slack_s"] if "slack_s" in job else "none", "%.0f" % job["elapsed_s"])' "$1" "$2" >"$2.end"
	read -r id state slack took <"$2.end"
	local said
	said=$(head -1 "$2.log" | sed 's/^[0-9:]* //; s/^[a-z]*-[0-9]* ([a-z0-9-]*): //; s/; predicted.*; done/; done/')
	local met="missed"
	case $state:$slack in *:none) met="unknown" ;; done:-*) ;; done:*) met="met" ;; *) met=$state ;; esac
	echo "| $1 | $said | $met | $slack s |"
	while [ -n "$(squeue -h)" ]; do sleep 1; done # until the nodes are given back, so that the next job requests its own
}
# bag NAME APP BACKEND DEADLINE TASKS SECONDS: a bag of sleeping tasks.
bag() {
	"$berth" bag --on "$3" --deadline "$4" -J "$1" --application "$2" --outdir "out-$1" sh -c "sleep $6" ::: $(seq "$5") >"$1.log" 2>&1 || true
}
profile() { # APP BACKEND TASKS SECONDS
	"$berth" bag --on "$2" -J "profile-$1" --application "$1" --outdir "out-profile-$1-$2" sh -c "sleep $4" ::: $(seq "$3") >/dev/null 2>&1
}

echo "| situation | planned, and said at once | deadline | slack at the end |"
echo "|---|---|---|---|"
bag new sleeps slurm 3m 32 5
row "Slurm: 32 tasks of 5 s, no profile, 3m" new
bag wide sleeps slurm 10m 32 5
row "Slurm: the same with a profile, 10m" wide
bag middle sleeps slurm 60s 32 5
row "Slurm: the same, 60s" middle
bag never sleeps slurm 8s 32 5
row "Slurm: the same, 8s" never
sbatch -N7 -n7 -c2 -t3 -o /dev/null --wrap "srun sleep 40" >/dev/null
bag full sleeps slurm 4m 32 5
row "Slurm: the same, seven of eight nodes taken by another job for up to 3 min, 4m" full
"$berth" bag --on slurm --detach -J background --application sleeps --outdir out-background sh -c "sleep 5" ::: $(seq 200) >/dev/null 2>&1
bag beside sleeps slurm 2m 16 5
"$berth" cancel "$("$berth" status --json | python3 -c 'import json,sys; print([j["id"] for j in json.load(sys.stdin)["jobs"] if j["name"]=="background"][-1])')" >/dev/null 2>&1 || true
row "Slurm: 16 tasks of 5 s beside 200 without a deadline, 2m" beside
bag slower sleeps slurm 150s 32 20
row "Slurm: 32 tasks that take 20 s and not 5 s as by the profile, 150s" slower
profile naps local 6 2
bag easy naps local 60s 10 2
row "one machine: 10 tasks of 2 s on two cores, 60s" easy
bag hopeless naps local 3s 10 2
row "one machine: the same, 3s" hopeless
"$berth" bag --on local --detach -J long --application naps --outdir out-long sh -c "sleep 2" ::: $(seq 60) >/dev/null 2>&1
bag first naps local 40s 10 2
row "one machine: the same after a job of 60 tasks without a deadline, 40s" first
