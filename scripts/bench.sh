#!/bin/sh
# Prints the figures of lab/results/performance.md. berth and its peers run in turn on this machine.
set -eu
cd "$(dirname "$0")/.."
scripts/deps.sh awk=mawk parallel=parallel
go test -run '^$' -bench "Completions|Queued" -benchmem ./internal/core/engine
go test -run '^$' -bench . ./internal/core/timeline ./internal/core/cluster
go test -run '^$' -bench Decide ./internal/core/plan
go test -run '^$' -bench 'Replay|Queue' -benchtime 2s -cpu 1 ./internal/simulate/batch
go test -run '^$' -bench Ways -benchtime 1x ./internal/core/plan
go test -run '^$' -bench 'BagXargs|Sort|WordCount' -benchtime "${BENCH_RUNS:-3}x" -timeout 60m ./test
go test -run '^$' -bench 'OpenBag$' -benchtime 2x ./internal/server/coordinator
go test -run '^$' -bench Events -cpu 1 ./internal/server/report
go test -run '^$' -bench 'OpenClosed|AddLines' -benchtime "${BENCH_RUNS:-3}x" -timeout 60m ./test
go test -run '^$' -bench 'Watch' -benchtime 1x -timeout 60m ./test
go test -run '^$' -bench BagParallel -benchtime 1x -timeout 60m ./test
if HQ=$(scripts/hq.sh); then
	HQ=$HQ go test -run '^$' -bench BagHyperQueue -benchtime "${BENCH_RUNS:-3}x" -timeout 60m ./test
fi
