# Which packages are tested how, and what test.sh, quick.sh and soak.sh have in common; read by them.
# shellcheck shell=sh

# What decides has no goroutines, and neither have simulations, the reader of ELF files and Hadoop's formats. Their tests compute.
PURE='./internal/core/... ./internal/simulate/... ./internal/hits/code ./internal/mapreduce/hadoop ./internal/mapreduce/seqfile ./test/arch'

# What reads and writes files has no goroutines either, nor have its tests. Those of the packages that call it have the race detector.
SERIAL='./internal/mapreduce/input ./internal/mapreduce/extsort ./internal/node/collect ./internal/node/files ./internal/server/rundir
./internal/sys/archive ./internal/sys/disk ./internal/sys/logfile ./internal/sys/private ./internal/sys/procattr'

# Packages that are tested without the race detector: those, and what hardly has goroutines of its own. Those that wait for
# clusters and hosts come first, as they take longest.
# shellcheck disable=SC2034 # used by those who read this
PLAIN="./lab/fleet ./test/support/... $PURE $SERIAL ./internal/command/... ./internal/compat/... ./lab/... ./cmd/... ./test/mutants ./test/summary"

# Packages without goroutines that others call millions of times: the race detector does not follow them in make test,
# but in make soak.
# shellcheck disable=SC2034 # used by those who read this
UNFOLLOWED='github.com/klauspost/compress/flate modernc.org/sqlite/lib modernc.org/libc golang.org/x/arch/x86/x86asm berth/internal/hits/code'

# The tests of batch systems wait for clusters most of the time and take longest of all, so they begin first. They run one after the other,
# as a cluster of many daemons takes long to start beside another one.
CLUSTERS='berth/internal/driver/slurm berth/internal/driver/gridengine berth/internal/driver/pbs'

# concurrent: the other packages that are tested with the race detector, those that take longest first.
concurrent() {
	first='berth/internal/node/worker berth/internal/driver/ec2 berth/internal/driver/ssh'
	# shellcheck disable=SC2046,SC2086 # one word for each package
	echo $first $(tested ./... | but "$(go list $PLAIN ./test $CLUSTERS $first)")
}

# tested PACKAGE…: those with tests.
tested() { go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@"; }

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
	files=$(gofmt -l ./*.go cmd internal lab test)
	[ -z "$files" ] || { echo "not formatted with gofmt: $files" >&2; return 1; }
}
