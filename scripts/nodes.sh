#!/usr/bin/env bash
# Makes nodes on this machine, each with its own network, CPU time, memory and disk. Each node is a
# network namespace on a bridge (tc limits its rate both ways), a control group (version 1 or 2), and a
# file system in a file behind a loop device. It needs root.
#
#   nodes.sh deps                 install the Debian packages unless they are there
#   nodes.sh up DIR               make the nodes; DIR must be new or empty
#   nodes.sh address DIR          the first three numbers of the addresses: this machine has .1, node nK .K+1
#   nodes.sh groups DIR NODE      the folders of the node's control groups that count CPU time, memory, disk
#   nodes.sh device DIR NODE      the number of the node's disk, as in /proc/diskstats: 7:0
#   nodes.sh interface DIR NODE   the interface of this machine that leads to the node
#   nodes.sh head DIR PID         have a process, and what it starts from then on, count as part of the cluster,
#                                 which goes before other programs of this machine
#   nodes.sh run DIR NODE CMD…    run a command on a node
#   nodes.sh limit DIR            limit the disks from now on (up leaves them without limit, to be filled);
#                                 prints what this kernel cannot limit
#   nodes.sh shared DIR           the number of the disk that the nodes share with this machine; nothing if
#                                 DIR is on none
#   nodes.sh down DIR             kill all that runs on the nodes and remove them and DIR
#
# A node sees the files of this machine, but for the folder DIR/disk: that is the node's own disk
# there. This machine sees the disk of node nK as DIR/nK.
#
# Environment, read by up:
#   NODES      number of nodes (3)           NODE_CPU   cores a node, also 0.5 (1)
#   NODE_MEM   memory a node in MB (1000)    NODE_NET   network a node, each way, in Mb/s (50)
#   NODE_DISK  disk a node in MB/s (20)      NODE_SIZE  size of the disk in MB (4000)
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

readonly CGROUPS=${CGROUP_ROOT:-/sys/fs/cgroup}
readonly WEIGHT=100   # of the cluster for the CPU scheduler; a program of this machine has 1
readonly PERIOD=20000 # µs of a period of the CPU limit: short, so that a node does not stand still for long

fail() { echo "nodes.sh: $*" >&2; exit 1; }

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }

set_dir() {
	DIR=$(realpath -m -- "$1")
	MARK=$DIR/.nodes
}

read_mark() {
	[ -e "$MARK" ] || fail "$DIR: no nodes here"
	# shellcheck disable=SC1090
	. "$MARK"
}

node_names() { seq -f 'n%g' 1 "$NODES"; }

known() { node_names | grep -x -- "$1" >/dev/null || fail "$1: no such node; there are $(node_names | paste -sd' ')"; }

v2() { [ -e "$CGROUPS/cgroup.controllers" ]; }

# group CONTROLLER [NODE]: the folder of a control group.
group() {
	if v2; then echo "$CGROUPS/$NAME${2:+/$2}"; else echo "$CGROUPS/$1/$NAME${2:+/$2}"; fi
}

# all_groups [NODE]: those of all controllers, each once.
all_groups() { for c in cpu cpuacct memory blkio; do group $c "${1:-}"; done | sort -u; }

put() { echo "$1" >"$2" 2>/dev/null || fail "cannot write $1 to $2"; }

## Making

check() {
	local c missing=
	[ "$(id -u)" -eq 0 ] || fail "network namespaces, control groups and loop devices need root"
	for c in ip tc losetup mkfs.ext4; do command -v $c >/dev/null || missing="$missing $c"; done
	[ -z "$missing" ] || fail "not installed:$missing (Debian packages iproute2 mount e2fsprogs)"
	v2 || for c in cpu cpuacct memory blkio; do
		[ -d "$CGROUPS/$c" ] || fail "no control groups for $c: neither $CGROUPS/cgroup.controllers nor $CGROUPS/$c"
	done
}

# pick_name chooses the first bridge and network of ours that are free.
pick_name() {
	local k
	for ((k = 1; k < 255; k++)); do
		if ip link add "berth$k" type bridge 2>/dev/null; then
			NAME=berth$k NET=10.177.$k
			return
		fi
	done
	fail "no name is free for a bridge"
}

make_bridge() {
	ip addr add "$NET.1/24" dev "$NAME"
	ip link set "$NAME" up
}

# shape DEVICE… limits devices to NODE_NET. Packets beyond the limit are queued first, so that TCP does not lose them at once.
shape() { tc "$@" root tbf rate "${NODE_NET}mbit" burst 64kb latency 100ms; }

make_network() {
	local node=$1 ns=$NAME$1
	ip netns add "$ns"
	ip link add "$ns" type veth peer name eth0 netns "$ns"
	ip link set "$ns" master "$NAME" up
	ip -n "$ns" addr add "$NET.$((${node#n} + 1))/24" dev eth0
	ip -n "$ns" link set lo up
	ip -n "$ns" link set eth0 up
	shape qdisc add dev "$ns"
	shape -n "$ns" qdisc add dev eth0
}

make_groups() {
	local node=$1 g
	for g in $(all_groups "$node"); do mkdir -p "$g"; done
	local quota
	quota=$(awk -v c="$NODE_CPU" -v p=$PERIOD 'BEGIN { printf "%d", c * p }')
	if v2; then
		put "$quota $PERIOD" "$(group cpu "$node")/cpu.max"
		put "${NODE_MEM}M" "$(group memory "$node")/memory.max"
	else
		put $PERIOD "$(group cpu "$node")/cpu.cfs_period_us"
		put "$quota" "$(group cpu "$node")/cpu.cfs_quota_us"
		put "${NODE_MEM}M" "$(group memory "$node")/memory.limit_in_bytes"
	fi
}

# open_groups makes the group of the cluster and that of its head, and lets groups of version 2 have
# children with limits.
open_groups() {
	mkdir -p "$(group cpu head)"
	if v2; then
		put "+cpu +memory +io" "$CGROUPS/cgroup.subtree_control"
		put "+cpu +memory +io" "$(group cpu)/cgroup.subtree_control"
		put $((100 * WEIGHT)) "$(group cpu)/cpu.weight"
	else
		put $((1024 * WEIGHT)) "$(group cpu)/cpu.shares"
	fi
}

# leave_head moves the remaining processes out of the head's group.
leave_head() {
	local pid root=$CGROUPS
	[ -d "$(group cpu head)" ] || return 0
	v2 || root=$CGROUPS/cpu
	while read -r pid; do echo "$pid" >"$root/cgroup.procs" 2>/dev/null || true; done <"$(group cpu head)/cgroup.procs"
	rmdir "$(group cpu head)"
}

# make_disk makes a disk with direct I/O, so that its data is not in this machine's page cache, too.
make_disk() {
	local node=$1
	truncate -s "${NODE_SIZE}M" "$DIR/$node.img"
	mkfs.ext4 -q -F -m 0 -E lazy_itable_init=1 "$DIR/$node.img"
	mkdir "$DIR/$node"
	mount -o noatime "$(losetup --find --show --direct-io=on "$DIR/$node.img" || losetup --find --show "$DIR/$node.img")" "$DIR/$node"
}

up() {
	check
	[ -z "$(ls -A "$DIR" 2>/dev/null)" ] || fail "$DIR: not empty"
	mkdir -p "$DIR/disk"
	NODES=${NODES:-3} NODE_CPU=${NODE_CPU:-1} NODE_MEM=${NODE_MEM:-1000}
	NODE_NET=${NODE_NET:-50} NODE_DISK=${NODE_DISK:-20} NODE_SIZE=${NODE_SIZE:-4000}
	pick_name
	for v in NAME NET NODES NODE_CPU NODE_MEM NODE_NET NODE_DISK; do echo "$v=${!v}"; done >"$MARK"
	trap 'down' ERR
	make_bridge
	open_groups
	for n in $(node_names); do
		make_network "$n"
		make_groups "$n"
		make_disk "$n"
	done
}

## Disks

# limit_disk NODE: reads and writes each at NODE_DISK. What a node reads and writes of files that it
# shares with this machine counts, too, as what its own disk does comes down to the same device.
# Version 2 charges what the kernel writes back later to whoever wrote it. Version 1 does not: there the
# root group has the limit of the node's device, and writes to shared files are limited as far as
# programs wait for them (fsync).
limit_disk() {
	local node=$1 dev rate=$((NODE_DISK * 1000000)) d g
	dev=$(device_of "$node")
	g=$(group blkio "$node")
	for d in $dev $(shared_device); do
		if v2; then
			put "$d rbps=$rate wbps=$rate" "$g/io.max"
		else
			put "$d $rate" "$g/blkio.throttle.read_bps_device"
			put "$d $rate" "$g/blkio.throttle.write_bps_device"
		fi
	done
	v2 || put "$dev $rate" "$CGROUPS/blkio/blkio.throttle.write_bps_device"
	put 128 "/sys/class/bdi/$dev/read_ahead_kb" # Linux's default; loop devices read megabytes that nobody asked for
	bound_dirty "$dev" $((rate / 2))
}

# bound_dirty DEVICE BYTES limits the data that waits to be written. Otherwise a program could end before its data is
# on its way to the disk.
bound_dirty() {
	[ -e "/sys/class/bdi/$1/max_bytes" ] || return 0
	put 1 "/sys/class/bdi/$1/strict_limit"
	put "$2" "/sys/class/bdi/$1/max_bytes"
}

# shared_device prints the disk that DIR is on. It is the whole disk, because a partition cannot be limited.
shared_device() {
	local dev
	dev=/sys/dev/block/$(stat -c '%Hd:%Ld' "$DIR")
	[ ! -e "$dev/partition" ] || dev=$dev/..
	[ ! -e "$dev/dev" ] || cat "$dev/dev"
}

unlimit_disk() {
	v2 || echo "$1 0" >"$CGROUPS/blkio/blkio.throttle.write_bps_device" 2>/dev/null || true
	[ ! -e "/sys/class/bdi/$1/max_bytes" ] || { echo 0 >"/sys/class/bdi/$1/strict_limit"; echo 100 >"/sys/class/bdi/$1/max_ratio"; } 2>/dev/null || true
}

limit() {
	for n in $(node_names); do limit_disk "$n"; done
	[ -n "$(shared_device)" ] || echo "$DIR is on no disk of its own that could be limited for what nodes read and write of shared files"
	v2 || echo "control groups of version 1: writes to shared files are limited as far as programs wait for them"
	[ -e "/sys/class/bdi/$(device_of n1)/max_bytes" ] || echo "no bound on what waits to be written to a disk (Linux has it from 6.2 on)"
}

device_of() { mountpoint -q "$DIR/$1" && mountpoint -d "$DIR/$1"; }

## Running

# join GROUPS…: this process, and so what it starts. A group of its own leaves a fork no way out.
join() { for g; do echo $$ >"$g/cgroup.procs"; done; }

run() {
	local node=$1
	shift
	known "$node"
	# shellcheck disable=SC2046
	join $(all_groups "$node")
	# ip makes a mount namespace of its own, whose mounts this machine does not see.
	exec ip netns exec "$NAME$node" sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$DIR/$node" "$DIR/disk" "$@"
}

## Removing

# kill_all kills the processes on the nodes, and is true when none is left.
kill_all() {
	local left
	left=$(for n in $(node_names); do for g in $(all_groups "$n"); do cat "$g/cgroup.procs" 2>/dev/null || true; done; done | sort -u)
	# shellcheck disable=SC2086
	[ -z "$left" ] || kill -9 $left 2>/dev/null || true
	[ -z "$left" ]
}

down() {
	trap - ERR
	[ -e "$MARK" ] || return 0
	read_mark
	local tries n g dev
	for ((tries = 0; tries < 300; tries++)); do
		! kill_all || break
		sleep 0.1
	done
	for n in $(node_names); do
		if dev=$(device_of "$n"); then
			unlimit_disk "$dev"
			dev=$(findmnt -no SOURCE "$DIR/$n")
			umount "$DIR/$n" || umount -l "$DIR/$n"
			losetup -d "$dev" || true
		fi
		ip netns del "$NAME$n" 2>/dev/null || true
		ip link del "$NAME$n" 2>/dev/null || true
		for g in $(all_groups "$n"); do [ ! -d "$g" ] || rmdir "$g"; done
	done
	leave_head
	for g in $(all_groups); do [ ! -d "$g" ] || rmdir "$g"; done
	ip link del "$NAME" 2>/dev/null || true
	rm -rf "${DIR:?}"
}

main() {
	[ "$*" != deps ] || exec "$(dirname "$0")/deps.sh" ip=iproute2 tc=iproute2 losetup=mount mkfs.ext4=e2fsprogs findmnt=util-linux
	[ $# -ge 2 ] || usage
	local command=$1
	set_dir "$2"
	shift 2
	case $command/$# in
	up/0 | down/0) $command ;;
	address/0) read_mark && echo "$NET" ;;
	limit/0) read_mark && limit ;;
	shared/0) read_mark && shared_device ;;
	groups/1) read_mark && known "$1" && for c in cpuacct memory blkio; do group $c "$1"; done ;;
	device/1) read_mark && known "$1" && device_of "$1" ;;
	interface/1) read_mark && known "$1" && echo "$NAME$1" ;;
	head/1) read_mark && put "$1" "$(group cpu head)/cgroup.procs" ;;
	run/0 | run/1) usage ;;
	run/*) read_mark && run "$@" ;;
	*) usage ;;
	esac
}

main "$@"
