#!/bin/sh
# Runs every fuzz target for the given number of executions (default 4000x), or for a time such as 30s.
# A number is the default because Go's -fuzztime with a time now and then ends a target that found
# nothing with "context deadline exceeded" (https://github.com/golang/go/issues/75804).
set -eu
cd "$(dirname "$0")/.."
for pkg in $(grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u); do
	for target in $(grep -hoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' "$pkg"/*_test.go | sed 's/^func //'); do
		echo "-- $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-4000x}" -fuzzminimizetime 10x "./$pkg"
	done
done
