#!/bin/sh
# Runs every fuzz target for the given number of executions (default 4000x), or for a time such as 30s.
# A number is the default, because with a time Go sometimes fails a target that found nothing with
# "context deadline exceeded" (https://github.com/golang/go/issues/75804).
# The coverage that guides fuzzing is measured in berth's own packages only. `go test -fuzz` would measure it in all packages,
# compile the standard library and the AWS SDK a second time, and link each target again.
set -eu
cd "$(dirname "$0")/.."
pkgs=$(grep -rl --include='*_test.go' '^func Fuzz' internal lab | xargs -n1 dirname | sort -u)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go test -c -ldflags='-s -w' -gcflags='berth/...=-d=libfuzzer' -o "$bin/" $(printf './%s ' $pkgs)
cache=$(go env GOCACHE)/fuzz/berth
for pkg in $pkgs; do
	for target in $(grep -hoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' "$pkg"/*_test.go | sed 's/^func //'); do
		echo "-- $pkg $target"
		(cd "$pkg" && "$bin/$(basename "$pkg").test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "${1:-4000x}" -test.fuzzminimizetime 10x -test.fuzzcachedir "$cache/$pkg")
	done
done
