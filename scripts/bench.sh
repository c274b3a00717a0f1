#!/bin/sh
# Prints the tables of lab/results/performance.md that make bench writes: berth beside its peers, which run in turn on this machine, and
# then each benchmark with all that it reports. BENCH_RUNS is the number of turns (default 6). BENCH_ONLY=peers leaves out those
# without peers.
set -eu
cd "$(dirname "$0")/.."
scripts/deps.sh awk=mawk parallel=parallel curl=curl >&2
runs="${BENCH_RUNS:-6}x"

# bench PACKAGE PATTERN FLAGS…: runs benchmarks and prints their lines, and one that begins with "exit" if that fails.
bench() {
	package=$1 pattern=$2
	shift 2
	{ go test -run '^$' -bench "$pattern" -timeout 60m "$@" "$package" || echo "exit $?"; } | tee -a /dev/stderr | grep '^Benchmark\|^exit'
}

peers() {
	bench ./test 'BagXargs|Sort|WordCount|OpenClosed|AddLines' -benchtime "$runs"
	bench ./test BagOne -benchtime 30x
	bench ./test 'BagParallel|Watch' -benchtime 1x
	bench ./internal/server/coordinator 'OpenBag$' -benchtime 2x
	bench ./internal/server/report Events -cpu 1
	if HQ=$(scripts/hq.sh); then
		export HQ
		bench ./test BagHyperQueue -benchtime "$runs"
	fi
}

parts() {
	bench ./internal/core/engine 'Completions|Queued' -benchmem
	bench ./internal/core/timeline .
	bench ./internal/core/cluster .
	bench ./internal/core/plan Decide
	bench ./internal/core/plan/front Search -benchtime 1x -cpu 1
	bench ./internal/simulate/batch 'Replay|Queue' -benchtime 2s -cpu 1
	bench ./internal/core/plan Ways -benchtime 1x
}

{ peers && { [ "${BENCH_ONLY:-}" = peers ] || parts; }; } | awk -f scripts/bench.awk
