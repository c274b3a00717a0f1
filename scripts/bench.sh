#!/bin/sh
# Prints the figures of docs/performance.md. berth and its peers run in turn on this machine.
set -eu
cd "$(dirname "$0")/.."
scripts/deps.sh awk=mawk parallel=parallel
go test -run '^$' -bench "Completions|Queued" -benchmem ./internal/engine
go test -run '^$' -bench . ./internal/timeline ./internal/cluster
go test -run '^$' -bench Decide ./internal/plan
go test -run '^$' -bench 'Replay|Queue' -benchtime 2s -cpu 1 ./internal/sim/batch
go test -run '^$' -bench Ways -benchtime 1x ./internal/plan
go test -run '^$' -bench 'BagXargs|Sort|WordCount' -benchtime "${BENCH_RUNS:-3}x" -timeout 60m ./test
go test -run '^$' -bench BagParallel -benchtime 1x -timeout 60m ./test
if HQ=$(scripts/hq.sh); then
	HQ=$HQ go test -run '^$' -bench BagHyperQueue -benchtime "${BENCH_RUNS:-3}x" -timeout 60m ./test
fi
