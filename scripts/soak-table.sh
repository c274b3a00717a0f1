#!/bin/sh
# Runs the fault tests for SOAK_ROUNDS rounds of each family (default 1000) from the seed BERTH_FAULT_SEED on (default 1), one after the
# other, and prints their rows of the table of lab/results/soak.md. SOAK_FAMILIES is a pattern of tests. What tests print goes to the
# standard error. SOAK_FLAGS has flags of go test.
set -u
cd "$(dirname "$0")/.."
export BERTH_FAULT_ROUNDS="${SOAK_ROUNDS:-1000}"
printf '| family | rounds | kills | seeds | outputs |\n|---|---|---|---|---|\n'
# shellcheck disable=SC2086 # SOAK_FLAGS has several words
{
	go test -timeout 24h -count=1 -parallel 1 -v ${SOAK_FLAGS:-} -run "${SOAK_FAMILIES:-Fault|Alone}" ./test ./internal/driver/gridengine
	echo "exit $?"
} | tee /dev/stderr | awk '/ soak: \|/ { sub(/.* soak: /, ""); print } /^exit [^0]/ { failed = 1 } END { exit failed }'
