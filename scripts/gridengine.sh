#!/usr/bin/env bash
# Runs a private Grid Engine on this machine, for tests and experiments: a qmaster, and execution hosts that are network
# namespaces with addresses and names of their own. It needs root; users submit jobs without it.
#
#   gridengine.sh deps                install what is missing: programs from Debian's packages in a folder of the user's cache
#   gridengine.sh up DIR              start it and wait until it is ready; DIR must be new
#   gridengine.sh down DIR            end its daemons and jobs, remove it
#   gridengine.sh kill DIR PART       kill -9 a part: master; all of a node: n1, n2, …; its daemon alone: execd1, execd2, …
#   gridengine.sh start DIR PART      start master or the daemon of a node again; wait until it answers
#   gridengine.sh pause DIR           stop the qmaster (SIGSTOP): its clients wait without an end; "start DIR master" continues it
#
# Afterwards ". DIR/env" gives a shell its commands. What to know: hosts share all files; a lost node is noticed after 8 s here
# (5 min by default); the qmaster forgets the ids of jobs that have ended when it is killed, and gives them again.
#
# Several run side by side. Outside DIR they have lines in /etc/hosts, network interfaces, and /usr/lib/gridengine/libspoolc.so,
# the only path from which Debian's programs load it; down leaves that file.
#
# Environment, read by up:
#   GE_NODES  number of nodes (8)      GE_SLOTS  slots a node (2)      GE_MEM  memory a node: consumable h_vmem (16G)
#   GE_VMEM   what a job has of h_vmem that requests none (1G; 0 is Grid Engine's own default)
#   GE_SCHED  settings of the scheduler ("maxujobs 2"), GE_CONF of the cluster ("max_u_jobs 3"), a line each
#
# Parallel environments: nodeK (K slots on every host, for each K up to GE_SLOTS), smp ($pe_slots), mpi ($round_robin), fill
# ($fill_up). Queues: all.q (h_rt 24 h), short.q (10 min), closed.q (nobody may use it), narrow.q (has only smp).
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

readonly WAIT=300 # seconds that something has to answer
readonly LOCK=/run/berth-hosts.lock # of all that write to /etc/hosts
readonly PROGRAMS=${XDG_CACHE_HOME:-$HOME/.cache}/berth-test/gridengine
readonly DEBS='gridengine-master gridengine-exec gridengine-client gridengine-common'
readonly SPOOLING=/usr/lib/gridengine/libspoolc.so

fail() { echo "gridengine.sh: $*" >&2; exit 1; }

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

# await COMMAND…: runs it until it succeeds, for at most WAIT seconds.
await() {
	local end=$((SECONDS + WAIT))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		[ "$1" = gone ] || named
		sleep 0.1
	done
}

installed() { dpkg-query -W -f '${db:Status-Status} ' "$1" 2>/dev/null | grep -w installed >/dev/null; }

deps() {
	"$(dirname "$0")/deps.sh" ip=iproute2 pgrep=procps unshare=util-linux
	mkdir -p "${PROGRAMS%/*}"
	[ -e "$PROGRAMS/ready" ] || (flock 9; [ -e "$PROGRAMS/ready" ] || unpack) 9>"${PROGRAMS%/*}/gridengine.lock"
	local missing= p
	for p in libjemalloc2 libmunge2 libtirpc3 libdb5.3 libhwloc15; do
		installed "$p" || missing="$missing $p"
	done
	# shellcheck disable=SC2086 # one word for each package
	[ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# Packages are not installed, as this machine would then count as one of Grid Engine.
unpack() {
	local work deb
	work=$(mktemp -d)
	chmod 755 "$work"
	cd "$work"
	# shellcheck disable=SC2086 # one word for each package
	apt-get download -qq $DEBS 2>/dev/null || { apt-get update -qq && apt-get download -qq $DEBS; }
	for deb in *.deb; do dpkg -x "$deb" root; done
	rm -rf "$PROGRAMS"
	mkdir -p "$PROGRAMS"
	cp -a root/usr/lib/gridengine "$PROGRAMS/bin"
	cp -a root/usr/share/gridengine/{util,default-configuration} "$PROGRAMS"
	rm -rf "$work" "$PROGRAMS"/bin/{qmon,qmake_sge,qtcsh,libspoolb.so}
	: >"$PROGRAMS/ready"
}

# daemon HOST COMMAND…: runs a daemon with that host name, and without the caller's environment, as jobs inherit it.
daemon() {
	local host=$1
	shift
	(. "$DIR/env" && cd / && exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 SGE_ROOT="$SGE_ROOT" SGE_CELL="$SGE_CELL" \
		SGE_QMASTER_PORT="$SGE_QMASTER_PORT" SGE_EXECD_PORT="$SGE_EXECD_PORT" SGE_CLUSTER_NAME="$SGE_CLUSTER_NAME" \
		unshare --uts sh -c 'hostname "$0"; exec setsid "$@"' "$host" "$@" </dev/null >>"$DIR/log" 2>&1)
}

execd() { ip netns exec "${NAME}n$1" "$0" execd "$DIR" "$1"; }

# configure WHAT…: gives qconf an object in a file, which it reads from standard input.
configure() {
	cat >"$DIR/object"
	"$BIN/qconf" "$@" "$DIR/object" >>"$DIR/log" 2>&1 || fail "qconf $*: $(tail -n1 "$DIR/log")"
}

# set NAME VALUE…: a filter that sets attributes of an object.
with() {
	local script=
	while [ $# -gt 0 ]; do
		script="$script;s|^$1 .*|$1 $2|"
		shift 2
	done
	sed "${script#;}"
}

hosts() { for ((k = 1; k <= NODES; k++)); do printf '%sn%d ' "$NAME" "$k"; done; }

# heard [N]: whether all hosts, or the N-th, answer.
heard() { ! "$BIN/qstat" -f -q "all.q@${NAME}n${1:-*}" 2>&1 | awk 'NR == 1 && !/queuename/ || $1 ~ /@/ && NF > 5 {bad = 1} END {exit !bad}'; }

up() {
	DIR=$(realpath -m "$1") NODES=${GE_NODES:-8}
	[ "$(id -u)" = 0 ] || fail "it needs root, for network namespaces"
	[ -e "$PROGRAMS/ready" ] || fail "Grid Engine's programs are missing: scripts/gridengine.sh deps"
	[ ! -e "$DIR" ] || fail "$DIR exists"
	mkdir -p "$DIR"/{spool,default/common,default/spool/qmaster/job_scripts}
	chmod 755 "$DIR"
	trap 'tail -n 15 "$DIR/log" >&2 || :; down "$DIR"' ERR
	network
	cell
	daemon "${NAME}m" "$BIN/sge_qmaster" || true # it fails if it takes long to start
	await "$BIN/qconf" -sm || fail "the qmaster does not answer: $(tail -n3 "$DIR/log")"
	objects
	for ((k = 1; k <= NODES; k++)); do execd $k || true; done
	await heard || fail "not all hosts are ready: $(tail -n3 "$DIR/log")"
	trap - ERR
	echo "Grid Engine runs in $DIR; to use it: . $DIR/env"
}

# network makes the bridge, whose number is that of the bed, and the nodes' namespaces.
network() {
	local k ns net
	for ((k = 1; k < 250; k++)); do ! ip link add "ge$k" type bridge 2>/dev/null || break; done
	NAME=ge$k net=10.179.$k BIN=$DIR/bin/lx-amd64
	printf '%s=%s\n' NAME "$NAME" NET "$net" NODES "$NODES" BIN "$BIN" NUMBER "$k" >"$DIR/bed"
	printf 'export %s\n' "SGE_ROOT=$DIR SGE_CELL=default SGE_ARCH=lx-amd64 SGE_CLUSTER_NAME=$NAME" \
		"SGE_QMASTER_PORT=$((17000 + 2 * k)) SGE_EXECD_PORT=$((17001 + 2 * k))" "PATH=$BIN:\$PATH" >"$DIR/env"
	. "$DIR/bed"
	. "$DIR/env"
	ip addr add "$net.1/24" dev "$NAME"
	ip link set "$NAME" up
	named
	for ((k = 1; k <= NODES; k++)); do
		ns=${NAME}n$k
		ip netns add "$ns"
		ip link add "$ns" type veth peer name eth0 netns "$ns"
		ip link set "$ns" master "$NAME" up
		ip -n "$ns" addr add "$net.$((k + 1))/24" dev eth0
		ip -n "$ns" link set lo up
		ip -n "$ns" link set eth0 up
	done
}

# named writes the names of the hosts to /etc/hosts, and again if another program has lost them there.
named() {
	(
		flock 9
		! grep -q " ${NAME}m " /etc/hosts || exit 0
		{
			echo "$NET.1 ${NAME}m # berth-$NAME"
			for ((k = 1; k <= NODES; k++)); do echo "$NET.$((k + 1)) ${NAME}n$k # berth-$NAME"; done
		} >>/etc/hosts
	) 9>"$LOCK"
}

# cell writes the files with which a qmaster can start.
cell() {
	local common=$DIR/default/common
	mkdir -p "$DIR/bin" "$DIR/utilbin" "$DIR/lib"
	ln -s "$PROGRAMS/bin" "$BIN"
	ln -s "$BIN" "$DIR/utilbin/lx-amd64"
	ln -s "$BIN" "$DIR/lib/lx-amd64"
	ln -s "$PROGRAMS/util" "$DIR/util"
	[ -e $SPOOLING ] || { mkdir -p "${SPOOLING%/*}" && cp "$PROGRAMS/bin/libspoolc.so" $SPOOLING; }
	echo "${NAME}m" >"$common/act_qmaster"
	echo "$NAME" >"$common/cluster_name"
	echo "${NAME}m $(hostname) localhost" >"$common/host_aliases" # this machine's own name, too, is the qmaster's host
	printf '%s\n' 'admin_user none' 'default_domain none' 'ignore_fqdn false' 'spooling_method classic' 'spooling_lib libspoolc' \
		"spooling_params $common;$DIR/default/spool/qmaster" "binary_path $DIR/bin" "qmaster_spool_dir $DIR/default/spool/qmaster" \
		'security_mode none' 'listener_threads 2' 'worker_threads 2' 'scheduler_threads 1' >"$common/bootstrap"
	with execd_spool_dir "$DIR/spool" min_uid 0 min_gid 0 load_report_time 00:00:02 max_unheard 00:00:08 reschedule_unknown 00:00:00 \
		gid_range "$((30000 + 200 * NUMBER))-$((30199 + 200 * NUMBER))" mailer /bin/true shell_start_mode unix_behavior \
		execd_params ENABLE_ADDGRP_KILL=1,KEEP_ACTIVE=ERROR \
		reporting_params 'accounting=true reporting=false flush_time=00:00:01 accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00' \
		<"$PROGRAMS/default-configuration" >"$DIR/conf"
	[ -z "${GE_CONF:-}" ] || while read -r key text; do sed -i "s|^$key .*|$key $text|" "$DIR/conf"; done <<<"$GE_CONF"
	{
		"$BIN/spoolinit" classic libspoolc "$common;$DIR/default/spool/qmaster" init
		for what in "configuration $DIR/conf" "complexes $DIR/util/resources/centry" "usersets $DIR/util/resources/usersets" 'managers root'; do
			# shellcheck disable=SC2086 # several words
			LD_LIBRARY_PATH=$BIN "$BIN/spooldefaults.bin" $what
		done
	} >>"$DIR/log" 2>&1
}

# objects configures hosts, resources, parallel environments, queues and the scheduler.
objects() {
	local h k tmp=/tmp slots=${GE_SLOTS:-2} fixed=
	# shellcheck disable=SC2046 # one word for each host
	"$BIN/qconf" -ah "$(hosts | sed 's/ $//; s/ /,/g')" >>"$DIR/log" 2>&1
	"$BIN/qconf" -as "${NAME}m" >>"$DIR/log" 2>&1
	{
		"$BIN/qconf" -sc | sed "s/^\(h_vmem  *h_vmem  *MEMORY  *<=  *YES  *\)NO  *0 /\1YES ${GE_VMEM:-1G} /"
		echo 'gpu gpu INT <= YES YES 0 0'
		echo 'exclusive excl BOOL EXCL YES YES 0 1000'
	} | configure -Mc
	for h in $(hosts); do
		printf '%s\n' "hostname $h" 'load_scaling NONE' "complex_values slots=$slots,h_vmem=${GE_MEM:-16G},exclusive=true" 'user_lists NONE' 'xuser_lists NONE' \
			'projects NONE' 'xprojects NONE' 'usage_scaling NONE' 'report_variables NONE' | configure -Ae
		"$BIN/qconf" -as "$h" >>"$DIR/log" 2>&1
		mkdir -p "$DIR/tmp/$h" # hosts share files: the end of a job on one must not remove what others have there
		chmod 1777 "$DIR/tmp/$h"
		tmp="$tmp,[$h=$DIR/tmp/$h]"
	done
	printf '%s\n' 'group_name @allhosts' "hostlist $(hosts)" | configure -Ahgrp
	for ((k = 1; k <= slots; k++)); do fixed="$fixed node$k"; done
	# shellcheck disable=SC2016 # names of rules
	for k in $fixed 'smp $pe_slots' 'mpi $round_robin' 'fill $fill_up'; do
		printf '%s\n' "pe_name ${k% *}" 'slots 9999' 'user_lists NONE' 'xuser_lists NONE' 'start_proc_args NONE' 'stop_proc_args NONE' \
			"allocation_rule ${k#node}" 'control_slaves TRUE' 'job_is_first_task FALSE' 'urgency_slots min' 'accounting_summary FALSE' \
			'qsort_args NONE' | sed 's/^allocation_rule [a-z]* /allocation_rule /' | configure -Ap
	done
	printf '%s\n' 'name nobody' 'type ACL' 'fshare 0' 'oticket 0' 'entries nobody' | configure -Au
	while read -r name limit pes users; do
		"$BIN/qconf" -sq 2>/dev/null | with tmpdir "$tmp" qname "$name" hostlist @allhosts slots "$slots" pe_list "$(tr , ' ' <<<"$pes")" shell /bin/sh \
			load_thresholds NONE rerun FALSE h_rt "$limit" user_lists "$users" | configure -Aq
	done <<-END
		all.q 24:00:00 smp,mpi,fill$(tr ' ' , <<<"$fixed") NONE
		short.q 0:10:0 smp,mpi,fill$(tr ' ' , <<<"$fixed") NONE
		closed.q 24:00:00 smp nobody
		narrow.q 24:00:00 smp NONE
	END
	{
		"$BIN/qconf" -ssconf | with schedule_interval 0:0:2 flush_submit_sec 1 flush_finish_sec 1 max_reservation 32 default_duration 24:00:00 \
			params MONITOR=1 job_load_adjustments NONE >"$DIR/sched"
		[ -z "${GE_SCHED:-}" ] || while read -r key text; do sed -i "s|^$key .*|$key $text|" "$DIR/sched"; done <<<"$GE_SCHED"
		configure -Msconf <"$DIR/sched"
	}
}

pids() {
	pgrep -f "^$BIN/sge_qmaster" || true
	for ((k = 1; k <= NODES; k++)); do ip netns pids "${NAME}n$k" 2>/dev/null || true; done
}

# gone kills everything and succeeds once nothing is left.
gone() {
	local left
	left=$(pids)
	# shellcheck disable=SC2086 # one word for each process
	[ -z "$left" ] || { kill -9 $left 2>/dev/null; false; }
}

down() {
	trap - ERR
	[ -e "$DIR/bed" ] || { rm -rf "$DIR"; return; }
	. "$DIR/bed"
	await gone || fail "some processes do not end: $(pids)"
	for ((k = 1; k <= NODES; k++)); do ip netns del "${NAME}n$k" 2>/dev/null || true; done
	(
		flock 9
		cp -p /etc/hosts /etc/hosts.berth
		grep -v "# berth-$NAME\$" /etc/hosts >/etc/hosts.berth || true
		# Whoever reads meanwhile sees the old file or the new one. In a container it may be mounted, and cannot be replaced.
		mv /etc/hosts.berth /etc/hosts 2>/dev/null || { cat /etc/hosts.berth >/etc/hosts && rm /etc/hosts.berth; }
	) 9>"$LOCK"
	ip link del "$NAME" 2>/dev/null || true
	rm -rf "$DIR"
}

# part PART: the processes of a part.
part() {
	case $1 in
	master) pgrep -f "^$BIN/sge_qmaster" ;;
	execd*) ip netns pids "${NAME}n${1#execd}" | while read -r p; do ! grep -q '^sge_execd$' "/proc/$p/comm" 2>/dev/null || echo "$p"; done ;;
	n*) ip netns pids "${NAME}n${1#n}" ;;
	*) usage ;;
	esac
}

# stop PART: kills its processes, and those that they start meanwhile.
stop() {
	local left
	left=$(part "$1" || true)
	# shellcheck disable=SC2086 # one word for each process
	[ -z "$left" ] || { kill -9 $left 2>/dev/null || true; sleep 0.05; stop "$1"; }
}

start() {
	case $1 in
	master)
		if pgrep -f "^$BIN/sge_qmaster" >/dev/null; then pkill -CONT -f "^$BIN/sge_qmaster"; else daemon "${NAME}m" "$BIN/sge_qmaster" || true; fi
		await timeout 5 "$BIN/qconf" -sm || fail 'the qmaster does not answer'
		await heard || fail 'not all hosts are ready'
		;;
	execd* | n*)
		[ -n "$(part "execd${1##*[a-z]}")" ] || execd "${1##*[a-z]}" || true
		await heard "${1##*[a-z]}" || fail "node ${1##*[a-z]} is not ready"
		;;
	*) usage ;;
	esac
}

case ${1:-}/$# in
deps/1) deps ;;
up/2) up "$2" ;;
down/2) DIR=$(realpath -m "$2") && down ;;
kill/3 | start/3 | pause/2 | execd/3)
	DIR=$(realpath "$2")
	. "$DIR/bed"
	. "$DIR/env"
	case $1 in
	kill) stop "$3" ;;
	start) start "$3" ;;
	pause) pkill -STOP -f "^$BIN/sge_qmaster" ;;
	execd) daemon "${NAME}n$3" "$BIN/sge_execd" ;; # inside its namespace
	esac
	;;
*) usage ;;
esac
