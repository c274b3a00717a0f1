#!/usr/bin/env bash
# Runs a private Slurm cluster on this machine, for tests and experiments: munged,
# slurmctld and one slurmd for each node, all in one folder and without root.
#
#   slurm.sh deps [acct]       install the Debian packages unless they are there, with acct those for accounting too
#   slurm.sh needs acct        print commands and their Debian packages as scripts/deps.sh takes them
#   slurm.sh up DIR            start it, or what of it is not running; wait until it is ready
#   slurm.sh down DIR          end its daemons and jobs, remove it
#   slurm.sh status DIR        which daemons run; nodes; queue
#   slurm.sh stop DIR DAEMON   kill -9 one daemon: ctld, munge, or slurmd of node n1, n2, … (db, dbd: accounting)
#   slurm.sh crash DIR NODE    kill -9 all of a node: slurmd, its steps and their tasks
#   slurm.sh start DIR DAEMON  start it again; wait until it answers
#
# What to know about Slurm: slurmctld saves jobs with a few seconds of delay, so a job that was
# submitted just before "stop ctld" is lost; a time limit has whole minutes and is
# enforced up to half a minute late; a job's steps outlive slurmd, until slurmctld misses the node.
#
# DIR must be new or empty. down removes all that up put there, and DIR itself if up made it.
#
# Environment, read by up when it makes DIR:
#   SLURM_NODES  number of nodes (8)          SLURM_CPUS  CPUs a node (2)
#   SLURM_MEM    memory a node in MB (2000)
#   SLURM_GPUS   nodes with GPUs, in the order of their numbers, as NODES:N:TYPE: "2:4:a100 1:2:v100" gives n1 and n2
#                four GPUs of type a100 each, and n3 two of type v100. Links to /dev/null are their devices (none)
#   SLURM_EXTRA  lines for slurm.conf; a key set here replaces ours, except that
#                PartitionName and NodeName lines are added
#   SLURM_NAME   the cluster's name (berth)
#   SLURM_ACCT   own: with accounting, by a MariaDB and a slurmdbd below DIR. The folder of a cluster that
#                has them: with accounting by that one's. Limits of associations and QOS are enforced; there
#                is an account "main" with the user that runs this. Nothing: no accounting
#   SLURM_NET    the first three numbers of addresses, 10.177.1 say, where nodes have networks of
#                their own: the controller is at .1, node nK at .K+1. Else all are at 127.0.0.1
#   SLURM_WITHIN a command that runs another on a node, given the node's name and the command: slurmd
#                is started by it, "scripts/nodes.sh run DIR" say
set -euo pipefail
umask 022

readonly TRIES=10   # sets of ports tried
readonly WAIT=60    # seconds a daemon has to answer, or to be gone
readonly DEPS='munged=munge slurmctld=slurmctld slurmd=slurmd sbatch=slurm-client'
readonly ACCT_DEPS='slurmdbd=slurmdbd mariadbd=mariadb-server-core'
readonly MAX_DIR=60 # bytes: slurmstepd's sockets below DIR may have 108 in all

fail() { echo "slurm.sh: $*" >&2; exit 1; }

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

# Debian's daemons are in /usr/sbin, which ordinary users do not have on PATH.
PATH=$PATH:/usr/sbin:/sbin

LAUNCHED=() # process ids of what this call launched

# shellcheck source=scripts/slurm-conf.sh
. "$(dirname "$0")/slurm-conf.sh"
# shellcheck source=scripts/slurm-acct.sh
. "$(dirname "$0")/slurm-acct.sh"

need_commands() {
	local c missing=
	for c in munged slurmctld slurmd sinfo; do
		command -v $c >/dev/null || missing="$missing $c"
	done
	id -un >/dev/null 2>&1 || fail "user $(id -u) has no name on this machine, and Slurm runs for users with names only"
	[ -z "$missing" ] || fail "not installed:$missing (Debian packages munge slurmctld slurmd slurm-client)"
}

# set_dir DIR: the folder's absolute name, in DIR.
set_dir() {
	DIR=$(realpath -m -- "$1")
	CONF=$DIR/slurm.conf
	MARK=$DIR/.slurm.sh # says that all here is ours, and whether DIR is
	[ ${#DIR} -le $MAX_DIR ] || fail "$DIR: longer than $MAX_DIR bytes, and names of Unix sockets are short; take a shorter folder"
	case $DIR in *[!A-Za-z0-9/._-]*) fail "$DIR: slurm.conf has no quotes for this name; take a plainer folder" ;; esac
}

# No variable of a cluster around us (this may run in a job) may reach ours.
clean_environment() {
	local v
	for v in $(compgen -e | grep -E '^(SLURM_|SLURMD_|SBATCH_|SRUN_|SALLOC_|SQUEUE_|SINFO_|SCANCEL_|PMI_)'); do
		# shellcheck disable=SC2163 # the variable that v names
		case $v in SLURM_NODES | SLURM_CPUS | SLURM_MEM | SLURM_GPUS | SLURM_EXTRA | SLURM_NAME | SLURM_ACCT | SLURM_NET | SLURM_WITHIN) export -n "$v" ;; *) unset "$v" ;; esac
	done
	export SLURM_CONF=$CONF
}

## Daemons

node_names() { scontrol show hostnames "$(sed -n 's/^NodeName=\([^ ]*\).*/\1/p' "$CONF" | paste -sd,)"; }

# with_argument ARG: the processes that have ARG in their command line.
with_argument() { (grep -lzxF -- "$1" /proc/[0-9]*/cmdline 2>/dev/null || true) | cut -d/ -f3; }

# called NAME…: those of the process ids on standard input that run a program so called.
called() {
	local pid comm name
	while read -r pid; do
		comm=$(cat "/proc/$pid/comm" 2>/dev/null) || continue
		for name; do [ "$comm" != "$name" ] || echo "$pid"; done
	done
}

# pids_of DAEMON: none if it does not run.
pids_of() {
	case $1 in
	munge) with_argument "--key-file=$DIR/munge/key" | called munged ;;
	ctld) with_argument "$CONF" | called slurmctld ;;
	db) with_argument "--datadir=$DIR/db/data" | called mariadbd ;;
	dbd) with_conf | called slurmdbd ;;
	*) comm -12 <(with_argument "$CONF" | sort) <(with_argument "$1" | sort) | called slurmd ;;
	esac
}

runs() { [ -n "$(pids_of "$1")" ]; }

# detach NAME COMMAND…: a session of its own, so that the terminal's signals do not reach it.
detach() {
	local name=$1
	shift
	setsid "$@" </dev/null >>"$DIR/log/$name.out" 2>&1 &
	LAUNCHED+=($!)
}

# launched_die is true when a process that was launched has ended.
launched_die() {
	local pid
	for pid in "${LAUNCHED[@]}"; do
		kill -0 "$pid" 2>/dev/null || return 0
	done
	return 1
}

# within NODE: the words before a command that is to run on the node.
within() { [ ! -s "$DIR/within" ] || echo "$(cat "$DIR/within") $1"; }

# shellcheck disable=SC2046 # words of a command
launch() {
	case $1 in
	munge) detach munge munged --foreground --force --num-threads=2 --key-file="$DIR/munge/key" --socket="$DIR/munge/socket" \
		--pid-file="$DIR/munge/pid" --log-file="$DIR/munge/log" --seed-file="$DIR/munge/seed" ;;
	ctld) detach slurmctld slurmctld -D -f "$CONF" ;;
	db | dbd) "launch_$1" ;;
	*) detach "$1" $(within "$1") slurmd -D -N "$1" -f "$CONF" ;;
	esac
}

# answers DAEMON is true when the daemon answers requests.
answers() {
	case $1 in
	munge) munge --socket="$DIR/munge/socket" --no-input >/dev/null 2>&1 ;;
	ctld) scontrol ping 2>/dev/null | grep 'is UP' >/dev/null ;;
	db) [ -S "$DIR/db/socket" ] ;;
	dbd) answers_dbd ;;
	*) listens "$1" && sinfo -h -n "$1" -o %T 2>/dev/null | registered ;;
	esac
}

# port_of NODE: nodes have the ports above the controller's, in order.
port_of() { echo $(($(sed -n 's/^SlurmctldPort=//p' "$CONF") + ${1#n})); }

# address_of NODE: that of this machine, or the node's own, which end in 2 for n1.
address_of() {
	sed -n 's/.*NodeAddr=\([0-9.]*\).*/\1/p' "$CONF" | awk -v node="${1#n}" 'NR == 1 { print /\.$/ ? $0 (node + 1) : $0 }'
}

listens() { ! port_free "$(port_of "$1")" "$(address_of "$1")"; }

# registered: standard input has states of nodes, and none of a node that slurmctld has
# not heard of (unknown) or misses (an asterisk at the end).
registered() { awk '/\*|unk/ { bad = 1 } END { exit bad || NR == 0 }'; }

# await SECONDS COMMAND…: until COMMAND is true, asking ten times a second.
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# kill_now PIDS: one word, white space between them.
# shellcheck disable=SC2086
kill_now() { [ -z "$1" ] || kill -9 $1 2>/dev/null || true; }

need_cluster() { [ -e "$CONF" ] || fail "$DIR: no cluster here"; }

known() {
	case $1 in
	munge | ctld) ;;
	db | dbd) [ -n "$(acct_daemons)" ] || fail "$1: this cluster runs none" ;;
	*) node_names | grep -x -- "$1" >/dev/null || fail "$1: no such daemon; there are ctld, munge, $(node_names | paste -sd' ')" ;;
	esac
}

## Commands

prepare() {
	if [ ! -e "$DIR" ]; then
		mkdir -p "$DIR"
		echo made >"$MARK"
	elif [ ! -e "$MARK" ]; then
		[ -z "$(ls -A "$DIR")" ] || fail "$DIR: neither empty nor made by slurm.sh"
		echo found >"$MARK"
	fi
	mkdir -p "$DIR"/{munge,run,log,state,spool}
	[ -z "${SLURM_WITHIN:-}" ] || echo "$SLURM_WITHIN" >"$DIR/within"
	if [ ! -e "$DIR/munge/key" ]; then
		(umask 077 && head -c 128 /dev/urandom >"$DIR/munge/key.new" && mv "$DIR/munge/key.new" "$DIR/munge/key")
	fi
	[ -e "$CONF" ] || prepare_acct
}

launch_all() {
	local d
	for d in munge $(acct_daemons); do
		runs "$d" || launch "$d"
		await "$WAIT" answers "$d" || fail "$d does not answer; see $DIR/log/$d.out, and $DIR/munge/log for munge"
	done
	register
	for d in ctld $(node_names); do runs "$d" || launch "$d"; done
}

port_taken() { grep -qi 'address already in use' "$DIR"/log/*.log "$DIR"/log/*.out 2>/dev/null; }

all_up() { sinfo -h -N -o %T 2>/dev/null | registered && all_listen; }

all_listen() {
	local n
	for n in $(node_names); do
		listens "$n" || return 1
	done
}

up_or_not() { all_up || launched_die; }

# up: on new ports if the folder is new, else on those it has.
up() {
	local try fresh=
	need_commands
	need_acct_commands
	prepare
	[ -e "$CONF" ] || fresh=yes
	for ((try = 0; try < TRIES; try++)); do
		[ -z "$fresh" ] || write_conf "$(pick_ports $((${SLURM_NODES:-8} + 2)))"
		launch_all
		if await "$WAIT" up_or_not && all_up; then
			echo "Slurm runs in $DIR; to use it: export SLURM_CONF=$CONF"
			return
		fi
		{ [ -n "$fresh" ] && port_taken; } || break
		await "$WAIT" kill_all
		LAUNCHED=()
		rm -rf "${DIR:?}"/{state,spool,log}/*
	done
	status >&2 || true
	tail -n 3 "$DIR"/log/*.log 2>/dev/null >&2 || true
	[ -z "$fresh" ] || { await "$WAIT" kill_all && rm "$CONF"; } # the next up begins anew
	fail "the cluster does not get ready; all of its logs are in $DIR/log"
}

# with_conf: the processes that were given our slurm.conf by their environment.
with_conf() { (grep -lzxF -- "SLURM_CONF=$CONF" /proc/[0-9]*/environ 2>/dev/null || true) | cut -d/ -f3; }

# tasks [NODE]: those of the process ids on standard input that a step started, on NODE
# or on any. They know their node; a user's shell does not.
tasks() {
	local pid
	while read -r pid; do
		! grep -qzxE "SLURMD_NODENAME=${1:-n[0-9]+}" "/proc/$pid/environ" 2>/dev/null || echo "$pid"
	done
}

# all_processes: daemons, steps and the tasks of jobs, however far they have gone from slurmd.
all_processes() {
	{
		pids_of munge
		pids_of db
		with_argument "$CONF" | called slurmctld slurmd
		with_conf | called slurmctld slurmdbd slurmd slurmstepd slurmscriptd
		with_conf | tasks
	} | sort -u | grep -vx -e $$ -e $BASHPID || true
}

# kill_all is true when nothing is left: a step may start a task while it is killed.
kill_all() {
	local left
	left=$(all_processes)
	kill_now "$left"
	[ -z "$left" ]
}

down() {
	[ -d "$DIR" ] || return 0
	[ -e "$MARK" ] || fail "$DIR: not made by slurm.sh"
	await "$WAIT" kill_all || fail "some processes do not end: $(all_processes | paste -sd' ')"
	if grep -qx made "$MARK"; then rm -rf "$DIR"; else rm -rf "${DIR:?}"/{munge,run,log,state,spool,within,slurm.conf,slurmdbd.conf,cgroup.conf,db} "$MARK"; fi
}

status() {
	local d
	for d in munge $(acct_daemons) ctld $(node_names); do
		if runs "$d"; then echo "$d runs"; else echo "$d does not run"; fi
	done
	timeout 5 sinfo -N -o '%N %T %E' && timeout 5 squeue
}

gone() { ! runs "$1"; }

stop_daemon() {
	kill_now "$(pids_of "$1")"
	await "$WAIT" gone "$1"
}

# crash_node NODE: steps before their tasks, so that none can tell how its tasks ended.
crash_node() {
	local on_node
	[ "${1#n}" != "$1" ] || fail "$1: not a node"
	on_node=$(with_conf | tasks "$1")
	stop_daemon "$1"
	# shellcheck disable=SC2086 # one word for each process
	kill_now "$(parents $on_node | called slurmstepd)"
	kill_now "$on_node $(with_conf | tasks "$1")"
}

parents() { for p; do awk '/^PPid:/ { print $2 }' "/proc/$p/status" 2>/dev/null || true; done | sort -u; }

# start_daemon DAEMON: a new slurmctld takes a few seconds to hear from its nodes, and
# starts no job on them until then.
start_daemon() {
	local n
	runs "$1" || launch "$1"
	await "$WAIT" answers "$1" || fail "$1 does not answer within $WAIT s; see $DIR/log"
	[ "$1" = ctld ] || return 0
	for n in $(node_names); do
		! runs "$n" || await "$WAIT" answers "$n" || fail "slurmctld does not hear from $n; see $DIR/log"
	done
}

main() {
	# shellcheck disable=SC2086 # one word for each command
	case $*/$# in
	deps/1) exec "$(dirname "$0")/deps.sh" $DEPS ;;
	'deps acct/2') exec "$(dirname "$0")/deps.sh" $DEPS $ACCT_DEPS ;;
	'needs acct/2')
		echo "$DEPS $ACCT_DEPS"
		exit
		;;
	*/0 | */1) usage ;;
	esac
	local command=$1
	set_dir "$2"
	clean_environment
	case $command/$# in
	up/2 | down/2) $command ;;
	status/2) need_cluster && status ;;
	crash/3) need_cluster && known "$3" && crash_node "$3" ;;
	stop/3 | start/3) need_cluster && known "$3" && "${command}_daemon" "$3" ;;
	*) usage ;;
	esac
}

main "$@"
