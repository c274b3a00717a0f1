#!/bin/sh
# Runs every fuzz target for the given time (default 3s).
set -eu
cd "$(dirname "$0")/.."
for pkg in $(grep -rl --include='*_test.go' '^func Fuzz' internal | xargs -n1 dirname | sort -u); do
	for target in $(grep -hoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' "$pkg"/*_test.go | sed 's/^func //'); do
		echo "-- $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-3s}" -fuzzminimizetime 10x "./$pkg"
	done
done
