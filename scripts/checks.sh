# Which packages are tested how, and what test.sh, quick.sh and soak.sh have in common; read by them.
# shellcheck shell=sh

# What decides has no goroutines, and its tests compute: it is tested without the race detector, as are simulations,
# the reader of ELF files and Hadoop's formats.
# The laboratory's are, too, but as some of its tests run berth, they are not in this list.
# shellcheck disable=SC2034 # used by those who read this
PLAIN='./internal/core/... ./internal/simulate/... ./internal/hits/code ./internal/mapreduce/hadoop ./internal/mapreduce/seqfile ./test/arch'

# fuzzed PACKAGE…: those with fuzz targets.
fuzzed() {
	go list -f '{{.ImportPath}} {{.Dir}}' "$@" | while read -r pkg dir; do
		! grep -qs '^func Fuzz' "$dir"/*_test.go || echo "$pkg"
	done
}

# but LIST: the lines of standard input that are not in the list.
but() { grep -vxF "$1"; }

# instrumented PACKAGE…: flags by which these packages, and no others, count the coverage that guides fuzzing.
instrumented() { printf -- '-gcflags=%s=-d=libfuzzer\n' "$@"; }

unformatted() {
	files=$(gofmt -l cmd internal lab test)
	[ -z "$files" ] || { echo "not formatted with gofmt: $files" >&2; return 1; }
}
