#!/bin/sh
# Runs for hours what make test runs with few random cases: properties and histories with SOAK_CASES times as many (default 50), each
# fuzz target for FUZZ_TIME (default 10m), and the fault tests for SOAK_ROUNDS rounds (default 1000). A failure prints its seed.
set -eu
cd "$(dirname "$0")/.."
. scripts/checks.sh
export CGO_ENABLED=1 FUZZ_TIME="${FUZZ_TIME:-10m}"
export BERTH_SEEDS="${SOAK_CASES:-50}"
export RAPID_CHECKS=$((100 * BERTH_SEEDS))
targets=$(fuzzed ./...)
# shellcheck disable=SC2046,SC2086 # one word for each package
{
	go test -timeout 24h -exec "$PWD/scripts/fuzz.sh" $(instrumented $targets) $targets
	go test -timeout 24h $(go list ./... | but "$targets" | grep -vx berth/test)
}
BERTH_DOORS=$(scripts/doors.sh soak) && export BERTH_DOORS
SOAK_FLAGS=-race make soak-table
