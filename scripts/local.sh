#!/usr/bin/env bash
# Measures what --local saves a bag whose tasks all read one file on a slow shared disk. Prints the seconds that the
# bag took with and without --local, and their ratio.
#
#   local.sh BERTH
#
# A node of nodes.sh has a fast disk of its own; the disk of a second node stands for the shared one, from which the
# kernel lets the first node read at RATE. The node's memory is smaller than the file, as on a node whose memory its
# tasks need: a file that stays in the page cache is read once in any case. It needs root and an idle machine.
#
# Environment: TASKS number of tasks (200)   SIZE of the file in MB (500)   RATE of the shared disk in MB/s (100)
#              MEM of the node in MB (400)
set -euo pipefail

[ $# = 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
BERTH=$(realpath "$1") NODES_SH=$(dirname "$(realpath "$0")")/nodes.sh
TASKS=${TASKS:-200} SIZE=${SIZE:-500} RATE=${RATE:-100} MEM=${MEM:-400}
DIR=$(mktemp -d)
trap '"$NODES_SH" down "$DIR"' EXIT

NODES=2 NODE_CPU=$(nproc) NODE_MEM=$MEM NODE_SIZE=$((3 * SIZE)) "$NODES_SH" up "$DIR"
mkdir "$DIR/state" "$DIR/n2/job"
head -c "${SIZE}M" /dev/urandom >"$DIR/n2/job/ref"
sync "$DIR/n2/job/ref"

device=$("$NODES_SH" device "$DIR" n2) group=$("$NODES_SH" groups "$DIR" n1 | tail -1)
if [ -e "$group/io.max" ]; then
	echo "$device rbps=$((RATE * 1000000))" >"$group/io.max"
else
	echo "$device $((RATE * 1000000))" >"$group/blkio.throttle.read_bps_device"
fi

# seconds FLAG…: the time of the bag with these flags, as berth reports it to be over.
seconds() {
	local began
	dd if="$DIR/n2/job/ref" iflag=nocache count=0 status=none # drops it from the page cache
	began=$(date +%s.%N)
	(cd "$DIR/n2/job" && XDG_STATE_HOME=$DIR/state BERTH_ON=local "$NODES_SH" run "$DIR" n1 "$BERTH" bag "$@" --scratch "$DIR/disk" \
		--stragglers off --stdout none --stderr none --array "1-$TASKS" -- sh -c 'cat ref >/dev/null') >&2
	date +%s.%N | awk -v b="$began" '{ printf "%.1f", $1 - b }'
}

with=$(seconds --local)
without=$(seconds)
awk -v w="$with" -v o="$without" 'BEGIN { printf "with --local %s s, without %s s: %.3f\n", w, o, w / o }'
