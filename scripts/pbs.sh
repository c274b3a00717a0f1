#!/usr/bin/env bash
# Runs a private OpenPBS on this machine, for tests and experiments: PostgreSQL, a server, a scheduler, and one mom for each
# node, all in one folder and on ports of its own. Needs root. Jobs run as the user who submits them, root too.
#
#   pbs.sh deps             install the Debian packages that are missing
#   pbs.sh found            exit with 0 if there is a PBS to run, else say what is missing
#   pbs.sh up DIR           start one in a new folder; wait until its nodes are free
#   pbs.sh down DIR         end all of its processes, remove the folder
#   pbs.sh status DIR       its server, nodes and jobs
#   pbs.sh stop DIR PART    kill -9 one daemon: server, sched, comm, db, or the mom of a node; jobs go on
#   pbs.sh crash DIR NODE   kill -9 all of a node: mom, jobs, tasks
#   pbs.sh pause DIR PART   stop a daemon (SIGSTOP) until "continue DIR PART"
#   pbs.sh start DIR PART   start a daemon again
#
# To use it afterwards: . DIR/env. Nodes have names such as b3n1: the bed's number and that of the node.
#
# The programs come from the tarball of an installed OpenPBS (a folder with bin, sbin, lib, libexec and etc) that BERTH_PBS_TARBALL names,
# else from the folder PBS_EXEC, else from that of the qsub on PATH. PBS is not part of berth. Nodes have loopback addresses,
# which OpenPBS uses only if it is built so.
#
# Environment, read by up:
#   PBS_NODES   number of nodes (4)           PBS_CPUS   CPUs a node (2)
#   PBS_MEM     memory a node (2gb)           PBS_EXTRA  lines for qmgr; NODE is replaced by the beginning of nodes' names
set -Eeuo pipefail
umask 022
PATH=/usr/bin:/bin:$PATH:/usr/sbin:/sbin

readonly WAIT=120 FIRST=17200 LAST=27200 LOCK=/run/berth-hosts.lock
readonly SERVER=localhost DBUSER=postgres

fail() { echo "pbs.sh: $*" >&2; exit 1; }

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

# await COMMAND…: asks ten times a second until it is true.
await() {
	local end=$((SECONDS + WAIT))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

## What is needed

deps() {
	local missing= p python
	python=$(/usr/bin/python3 -c 'import sys; print("3.%d" % sys.version_info[1])' 2>/dev/null || echo 3.11)
	for p in libpq5 libhwloc15 libical3 libcjson1 libexpat1 libssl3 zlib1g zstd procps python3 "libpython$python" postgresql; do
		dpkg-query -W -f '${db:Status-Status} ' "$p" 2>/dev/null | grep -w installed >/dev/null || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" -eq 0 ] || fail "these Debian packages are needed:$missing"
	echo "installing from Debian:$missing"
	apt-get update -qq
	# the package would start a database of its own; shellcheck disable=SC2086 # one word for each package
	mkdir -p /etc/postgresql-common && [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

postgres() { find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname; }

installed() { # the folder of an installed PBS, or nothing
	local qsub
	[ -z "${PBS_EXEC:-}" ] || { echo "$PBS_EXEC"; return; }
	qsub=$(command -v qsub) || return 0
	qsub=$(dirname "$(dirname "$(realpath "$qsub")")")
	[ ! -x "$qsub/sbin/pbs_server" ] || echo "$qsub"
}

found() {
	[ "$(id -u)" -eq 0 ] || fail "a private PBS needs root"
	[ -n "${BERTH_PBS_TARBALL:-}$(installed)" ] || fail "there is no PBS: none is on PATH or in PBS_EXEC, and BERTH_PBS_TARBALL names no tarball of one"
	[ -z "${BERTH_PBS_TARBALL:-}" ] || [ -r "$BERTH_PBS_TARBALL" ] || fail "BERTH_PBS_TARBALL: $BERTH_PBS_TARBALL cannot be read"
	[ -n "$(postgres)" ] || fail "PostgreSQL is not installed (scripts/pbs.sh deps installs it)"
}

## The bed's own numbers: ports from BASE on, loopback addresses, names

load() {
	DIR=$(realpath -m -- "$1")
	[ -e "$DIR/bed" ] || fail "$DIR: no PBS here"
	# shellcheck disable=SC1091
	. "$DIR/bed"
	NUMBER=$(((BASE - FIRST) / 100 + 1)) DB=$((BASE + 1)) COMM=$((BASE + 2)) NODE=b${NUMBER}n
	export PBS_CONF_FILE=$DIR/pbs.conf
}

free_port() { ! (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

claim() { # a hundred ports that no other bed has
	for ((BASE = FIRST; BASE < LAST; BASE += 100)); do
		mkdir "/tmp/.berth-pbs.$BASE" 2>/dev/null || continue
		! { free_port $BASE && free_port $((BASE + 1)) && free_port $((BASE + 2)) && free_port $((BASE + 12)); } || return 0
		rmdir "/tmp/.berth-pbs.$BASE"
	done
	fail "no ports are free"
}

# name and unname add and remove the bed's lines of /etc/hosts. Others read the file meanwhile, so it is replaced whole, unless it is a mount.
name() { flock "$LOCK" sh -c 'cat >>/etc/hosts'; }

unname() {
	# shellcheck disable=SC2016
	flock "$LOCK" sh -c 'grep -v "# berth-pbs $0\$" /etc/hosts >/etc/hosts.berth-pbs; chmod 644 /etc/hosts.berth-pbs
		mv /etc/hosts.berth-pbs /etc/hosts 2>/dev/null || { cat /etc/hosts.berth-pbs >/etc/hosts; rm -f /etc/hosts.berth-pbs; }' "$NUMBER"
}

port_of() { echo $((BASE + 10 + 2 * ${1##*n})); }

nodes() { for ((n = 1; n <= NODES; n++)); do echo "$NODE$n"; done; }

## Folders and configurations

config() { # config HOME [NODE]
	cat <<-EOF
		PBS_EXEC=$DIR/pbs
		PBS_HOME=$1
		PBS_SERVER=$SERVER
		PBS_LEAF_NAME=${2:-$SERVER}
		PBS_LEAF_ROUTERS=$SERVER:$COMM
		PBS_COMM_NAME=$SERVER:$COMM
		PBS_COMM_THREADS=2
		PBS_BATCH_SERVICE_PORT=$BASE
		PBS_DATA_SERVICE_PORT=$DB
		PBS_MOM_SERVICE_PORT=$((BASE + 3))
		PBS_MANAGER_SERVICE_PORT=$((BASE + 4))
	EOF
	[ -z "${2:-}" ] || echo "PBS_MOM_NODE_NAME=$2"
}

folders() { # folders HOME: with the modes that PBS demands
	mkdir -p "$1"/{aux,checkpoint,comm_logs,mom_logs,sched_logs,sched_priv,server_logs,spool,tmp,undelivered} \
		"$1"/mom_priv/{jobs,hooks/tmp} "$1"/server_priv/{accounting,jobs,users,hooks/tmp}
	chmod 700 "$1/checkpoint"
	chmod 750 "$1"/{mom_priv,server_priv}/hooks{,/tmp} "$1"/{server_priv,sched_priv} "$1"/server_priv/{jobs,users}
	chmod 751 "$1"/mom_priv{,/jobs}
	chmod 1777 "$1"/{spool,tmp,undelivered}
	echo "PATH=$DIR/pbs/bin:/usr/local/bin:/usr/bin:/bin" >"$1/pbs_environment"
	"$DIR/pbs/bin/qstat" --version | sed 's/.*= *//' >"$1/pbs_version"
}

programs() {
	mkdir -p "$DIR/pbs"
	if [ -n "${BERTH_PBS_TARBALL:-}" ]; then
		tar -C "$DIR/pbs" --no-same-owner --use-compress-program="$(case $BERTH_PBS_TARBALL in *.zst) echo zstd ;; *) echo gzip ;; esac)" -xpf "$BERTH_PBS_TARBALL"
	else
		cp -a "$(installed)/." "$DIR/pbs"
	fi
	chmod 4755 "$DIR/pbs/sbin/pbs_iff" # it tells the server who its caller is
}

scheduler() { # its configuration: jobs in order, with backfilling
	local to=$DIR/home/sched_priv etc=$DIR/pbs/etc
	cp "$etc/pbs_dedicated" "$to/dedicated_time"
	cp "$etc/pbs_holidays" "$to/holidays"
	cp "$etc/pbs_resource_group" "$to/resource_group"
	sed -e 's/^strict_ordering:.*/strict_ordering: true ALL/' -e 's/^\(resources: "ncpus, mem, \)/\1ngpus, /' "$etc/pbs_sched_config" >"$to/sched_config"
}

as_db() { setpriv --reuid=$DBUSER --regid="$(id -g $DBUSER)" --clear-groups env -i -C / PATH="$(postgres):/usr/bin:/bin" PGHOST="$DIR/db" PGPORT="$DB" PGUSER=$DBUSER "$@"; }

database() {
	local data=$DIR/home/datastore
	install -d -m 700 -o $DBUSER "$data" "$DIR/db"
	as_db initdb -D "$data" -U $DBUSER -A trust -E SQL_ASCII --locale=C --no-sync
	as_db sh -c 'cat >>"$0"' "$data/postgresql.conf" <<-EOF
		port = $DB
		unix_socket_directories = '$DIR/db'
		listen_addresses = 'localhost'
		shared_buffers = 16MB
		fsync = off
	EOF
	launch db
	as_db createdb pbs_datastore
	as_db psql -q -d pbs_datastore <"$DIR/pbs/libexec/pbs_db_schema.sql"
	(umask 077 && printf %s $DBUSER >"$DIR/home/server_priv/db_user")
}

settings() {
	cat <<-EOF
		create queue workq queue_type=execution,enabled=true,started=true
		set queue workq resources_max.walltime = 48:00:00
		create queue short queue_type=execution,enabled=true,started=true
		set queue short resources_max.walltime = 00:10:00
		set queue short resources_max.nodect = 2
		create resource ngpus type=long,flag=hn
		set server default_queue = workq
		set server resources_default.walltime = 24:00:00
		set server query_other_jobs = true
		set server job_history_enable = true
		set server eligible_time_enable = true
		set server backfill_depth = 10
		set server scheduler_iteration = 10
		set server node_fail_requeue = 5
		set server flatuid = true
		set server acl_roots = root
		set sched default sched_host = $SERVER
		set server scheduling = true
	EOF
	for n in $(nodes); do
		echo "create node $n Mom=$n,Port=$(port_of "$n"),resources_available.ncpus=${PBS_CPUS:-2},resources_available.mem=${PBS_MEM:-2gb},resources_available.host=$n"
	done
	printf '%s\n' "${PBS_EXTRA:-}" | sed "s/NODE/$NODE/g"
}

mom() { # mom NODE: its folder and its namespace
	folders "$DIR/$1"
	: >"$DIR/$1/uts"
	unshare --uts="$DIR/$1/uts" hostname "$1"
	config "$DIR/$1" "$1" >"$DIR/$1/pbs.conf"
	# At its start a mom asks for the names of all of this machine's addresses, and a name server that does not answer took 10 s for each.
	echo 'RES_OPTIONS=timeout:1 attempts:1' >>"$DIR/$1/pbs_environment"
	cat >"$DIR/$1/mom_priv/config" <<-EOF
		\$clienthost $SERVER
		\$usecp *:/ /
		\$tmpdir $DIR/$1/tmp
		\$enforce mem
		\$min_check_poll 1
		\$max_check_poll 2
	EOF
}

## Daemons

clean() { env -i PATH="$(postgres):/usr/bin:/bin:/usr/sbin:/sbin" LANG=C.UTF-8 PBS_CONF_FILE="$1" "${@:2}" </dev/null >>"$DIR/log" 2>&1; }

# A node has a host name of its own. Its processes are those of its namespace, which a mount keeps until down: the kernel gives the
# number of a namespace that has ended to the next one, of another bed for instance.
launch() {
	local port
	case $1 in
	db) as_db pg_ctl -w -D "$DIR/home/datastore" -l "$DIR/db/log" start </dev/null >>"$DIR/log" 2>&1 ;;
	server | sched | comm) clean "$DIR/pbs.conf" "$DIR/pbs/sbin/pbs_$1" ;;
	*)
		port=$(port_of "$1")
		clean "$DIR/$1/pbs.conf" nsenter --uts="$DIR/$1/uts" "$DIR/pbs/sbin/pbs_mom" -d "$DIR/$1" -M "$port" -R $((port + 1))
		;;
	esac
}

# inside FILE…: the processes in the namespaces that are mounted on the files.
inside() {
	local names= f
	for f in "$@"; do
		[ "$(stat -fLc %T "$f" 2>/dev/null)" != nsfs ] || names="$names${names:+$'\n'}$(stat -Lc 'uts:[%i]' "$f")"
	done
	[ -z "$names" ] || find /proc/[0-9]*/ns/uts -printf '%l %h\n' 2>/dev/null | grep -F "$names" | sed 's|.* /proc/\([0-9]*\)/.*|\1|' || true
}

pids_of() {
	case $1 in
	db) head -n 1 "$DIR/home/datastore/postmaster.pid" 2>/dev/null || true ;;
	server) pgrep -f "^$DIR/pbs/sbin/pbs_server" || true ;;
	sched | comm) pgrep -f "^$DIR/pbs/sbin/pbs_$1" || true ;;
	*) pgrep -f "^$DIR/pbs/sbin/pbs_mom -d $DIR/$1 " || true ;;
	esac
}

signal() { # signal NAME PIDS…
	[ $# -lt 2 ] || kill -"$@" 2>/dev/null || true
}

# shellcheck disable=SC2046 # one word for each process
gone() {
	local left
	left=$( (pgrep -f "^$DIR/pbs/sbin/|-D $DIR/home/datastore" || true; inside "$DIR"/*/uts) | sort -u)
	[ -z "$left" ] || { signal KILL $left; false; }
}

known() {
	case $1 in server | sched | comm | db) ;; *) nodes | grep -x -- "$1" >/dev/null || fail "$1: no such part; there are server, sched, comm, db and $(nodes | paste -sd' ')" ;; esac
}

answers() { timeout 5 "$DIR/pbs/bin/qstat" -B; }

ready() { [ "$("$DIR/pbs/bin/pbsnodes" -av | grep -c '^ *state = free')" -ge "$NODES" ]; }

## Commands

up() {
	found
	DIR=$(realpath -m -- "$1") NODES=${PBS_NODES:-4}
	[ ! -e "$DIR" ] || fail "$DIR: it exists"
	claim
	mkdir -p "$DIR"
	chmod 755 "$DIR"
	printf 'BASE=%s\nNODES=%s\n' $BASE "$NODES" >"$DIR/bed"
	load "$DIR"
	trap 'status=$?; echo "pbs.sh: \"$BASH_COMMAND\" ended with status $status; the log ends:" >&2; tail -n 20 "$DIR/log" >&2; down; exit 1' ERR
	unname # what a bed of this number has left that was not taken down
	for n in $(nodes); do echo "127.19.$NUMBER.${n##*n} $n # berth-pbs $NUMBER"; done | name
	programs >>"$DIR/log" 2>&1
	folders "$DIR/home"
	config "$DIR/home" >"$DIR/pbs.conf"
	printf 'export BERTH_ON=pbs PBS_CONF_FILE=%s PATH=%s:$PATH\n' "$DIR/pbs.conf" "$DIR/pbs/bin" >"$DIR/env"
	scheduler
	database >>"$DIR/log" 2>&1
	launch comm
	clean "$DIR/pbs.conf" "$DIR/pbs/sbin/pbs_server" -t create
	await answers
	settings | "$DIR/pbs/bin/qmgr" >>"$DIR/log" 2>&1 || fail "qmgr refuses a setting; see $DIR/log"
	launch sched
	for n in $(nodes); do
		mom "$n"
		launch "$n"
	done
	await ready
	trap - ERR
	echo "PBS runs in $DIR; to use it: . $DIR/env"
}

down() {
	trap - ERR
	await gone || fail "some processes do not end"
	unname
	for f in "$DIR"/*/uts; do umount "$f" 2>/dev/null || true; done
	rm -rf "$DIR" "/tmp/.berth-pbs.$BASE"
}

status() { timeout 10 "$DIR/pbs/bin/qstat" -B && "$DIR/pbs/bin/pbsnodes" -aS && "$DIR/pbs/bin/qstat"; }

start() {
	launch "$1"
	case $1 in
	server) await answers || fail "the server does not answer; see $DIR/home/server_logs" ;;
	esac
}

# shellcheck disable=SC2046 # one word for each process
main() {
	case $*/$# in
	deps/1 | found/1) "$1"; exit ;;
	"up ${2:-}/2") up "$2"; exit ;;
	"down ${2:-}/2") [ -e "$2/bed" ] || exit 0 ;;
	*/2 | */3) ;;
	*) usage ;;
	esac
	load "$2"
	[ $# -lt 3 ] || known "$3"
	case $1/$# in
	down/2 | status/2) "$1" ;;
	stop/3) signal KILL $(pids_of "$3") ;;
	pause/3) signal STOP $(pids_of "$3") ;;
	continue/3) signal CONT $(pids_of "$3") ;;
	crash/3) signal KILL $(inside "$DIR/$3/uts") ;;
	start/3) start "$3" ;;
	*) usage ;;
	esac
}

main "$@"
