#!/bin/sh
# Runs a test binary in the folder of its package, and then each fuzz target there: go test -exec scripts/fuzz.sh.
# So the build that runs the tests also fuzzes. With -gcflags=PACKAGE=-d=libfuzzer, which make soak has, coverage of that
# package guides it.
# FUZZ_TIME is the number of executions of each target (4000x), or a time such as 30s. A number is the default, because with a time
# Go sometimes fails a target that found nothing with "context deadline exceeded" (https://github.com/golang/go/issues/75804).
set -eu
unset GOGC # it is meant for the compiler
"$@"
grep -qs '^func Fuzz' ./*_test.go || exit 0
cache=$(go env GOCACHE)/fuzz/berth${PWD#"$(go env GOMOD | xargs dirname)"}
# shellcheck disable=SC2013 # a name has no spaces
for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' ./*_test.go); do
	echo "-- $target"
	"$1" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "${FUZZ_TIME:-4000x}" -test.fuzzminimizetime 10x \
		-test.parallel 1 -test.fuzzcachedir "$cache"
done
