#!/bin/sh
# Prints the statement coverage by package, and of the product, which is all without the laboratory: coverage.sh [-r DIR] [TREE [PACKAGE…]]
# TREE is the folder of the source (this one), PACKAGEs those whose tests run (all, except those of helpers
# in test/support, and those of the architecture, which only read the source).
# A statement counts as covered if the tests of any package execute it, in the test's process, in another of the same
# binary, or in the berth that the end-to-end tests build. Processes that are killed do not count.
# With -r, the measurements stay in DIR, and another call adds to them.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
keep=
if [ "${1:-}" = -r ]; then
	mkdir -p "$2"
	keep=$(cd "$2" && pwd)
	shift 2
fi
cd "${1:-$here}"
[ $# -eq 0 ] || shift
data=${keep:-$(mktemp -d)}
[ -n "$keep" ] || trap 'rm -rf "$data"' EXIT
log=$data/failures.txt
touch "$log"

own=$(go list ./... | grep -v '^berth/test')
product=$(echo $own | tr ' ' ,)
# The go commands that tests call inherit these flags, and so berth is built with counters, too.
flags="${GOFLAGS:-} -cover -coverpkg=$product"
for pkg in ${*:-$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -Ev '^berth/(test/support|test/arch|internal/archtest)')}; do
	# Only packages that the test needs are measured: go test would link all others into it.
	needs=$(go list -deps -test -f '{{if not .ForTest}}{{.ImportPath}}{{end}}' "$pkg" | grep -v '\.test$' | grep -Fx "$own" | paste -sd, -)
	GOFLAGS=$flags GOCOVERDIR=$data go test -count=1 -vet=off -timeout 30m -parallel 8 -coverpkg="${needs:-$product}" "$pkg" -args -test.gocoverdir="$data" </dev/null >"$data/out.txt" 2>&1 ||
		{ echo "$pkg: $(grep -E '^(--- FAIL|panic:|FAIL)' "$data/out.txt" | head -5 | tr '\n' ' ')" >>"$log"; cat "$data/out.txt" >&2; }
done

go tool covdata textfmt -i="$data" -o="$data/profile.txt"
# One line for each block: place, statements, and whether a process executed it. A block is there once for each set of measured packages.
awk 'NR > 1 { stmts[$1] = $2; if ($3 > 0) hit[$1] = 1 }
	END {
		for (b in stmts) {
			pkg = b; sub(/\/[^\/]*$/, "", pkg); sub(/^berth\//, "", pkg)
			all[pkg] += stmts[b]
			if (b in hit) some[pkg] += stmts[b]
		}
		for (pkg in all) {
			printf "%-36s %6d %6d %6.1f %%\n", pkg, all[pkg], some[pkg], 100 * some[pkg] / all[pkg] | "sort"
			if (pkg !~ /^(cmd\/berth-)?lab/) { sum += all[pkg]; done += some[pkg] }
		}
		close("sort")
		printf "%-36s %6d %6d %6.1f %%\n", "the product", sum, done, 100 * done / sum
	}' "$data/profile.txt" | { printf '%-36s %6s %6s\n' package stmts covered; cat; }
if [ -s "$log" ]; then
	echo 'tests that failed, and are counted as far as they came:'
	cat "$log"
	exit 1
fi
