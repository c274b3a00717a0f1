#!/bin/sh
# Runs the fault tests for SOAK_ROUNDS rounds of each family (default 1000) from the seed BERTH_FAULT_SEED on (default 1), one after the
# other, and prints their rows of the table of lab/results/soak.md. SOAK_FAMILIES is a pattern of tests. What tests print goes to the
# standard error. SOAK_FLAGS has flags of go test.
set -u
cd "$(dirname "$0")/.."
export BERTH_FAULT_ROUNDS="${SOAK_ROUNDS:-1000}"
printf '| family | rounds | kills | seeds | outputs |\n|---|---|---|---|---|\n'
# One package after the other, as go test prints nothing of several before they end.
for package in ./test ./internal/driver/gridengine; do
	# shellcheck disable=SC2086 # SOAK_FLAGS has several words
	go test -timeout 24h -count=1 -parallel 1 -v ${SOAK_FLAGS:-} -run "${SOAK_FAMILIES:-Fault|Alone}" $package || echo "exit $?"
done | tee -a /dev/stderr | awk '
	/ soak: \|/ { sub(/.* soak: /, ""); print; fflush(); split($0, cell, "|"); if (n++ == 0 || cell[3] + 0 < fewest) fewest = cell[3] + 0 }
	/^exit [^0]/ { failed = 1 }
	END { if (!failed) printf "\nFewest rounds of a family, with no failure in any: %d.\n", fewest; exit failed }'
