#!/bin/sh
# Runs every check of the project, side by side, as many tests wait more than they compute. Installs what is missing from Debian
# and PyPI. BERTH_NO_SLURM=1 leaves out the tests with Slurm, BERTH_NO_GRIDENGINE=1 those with Grid Engine,
# BERTH_NO_MRJOB=1 those with mrjob, BERTH_NO_DOORS=1 those with Python's libraries and workflow engines, and those with R unless it
# is there. Tests with PBS need one: BERTH_PBS_TARBALL, PBS_EXEC, or qsub on PATH (scripts/pbs.sh). Examples with Nextflow run where
# Java and Maven are installed.
set -eu
cd "$(dirname "$0")/.."
. scripts/checks.sh
logs=$(mktemp -d)
chmod 755 "$logs" # other users run the program, too
trap 'rm -rf "$logs"' EXIT
trap 'trap - TERM; kill 0' INT TERM
failed=

# begin NAME COMMAND…: runs a command in the background.
begin() {
	name=$1
	shift
	(if "$@" >"$logs/$name" 2>&1; then echo 0; else echo $?; fi >"$logs/$name.status") &
	echo $! >"$logs/$name.pid"
}

# await NAME: waits for its end, shows what it wrote, and notes whether it failed.
await() {
	wait "$(cat "$logs/$1.pid")" || true
	echo "== $1"
	cat "$logs/$1"
	[ "$(cat "$logs/$1.status")" = 0 ] || failed="$failed $1"
}

debian() {
	# shellcheck disable=SC2046 # one word for each package
	scripts/deps.sh gcc='gcc libc6-dev' g++=g++ awk=mawk python3=python3 zstd=zstd bzip2=bzip2 \
		/usr/bin/convert=imagemagick velveth=velvet sshd=openssh-server ssh=openssh-client ip=iproute2 tc=iproute2 nft=nftables \
		mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev \
		$(command -v chromium >/dev/null || echo /usr/lib/chromium/chromium-headless-shell=chromium-headless-shell) \
		$(python3 -c 'import ensurepip, venv' 2>/dev/null || echo ensurepip=python3-venv) \
		$([ -n "${BERTH_NO_DOORS:-}" ] || Rscript -e 'loadNamespace("future.batchtools")' >/dev/null 2>&1 || echo batchtools=r-cran-future.batchtools) \
		$([ -n "${BERTH_NO_SLURM:-}" ] || scripts/slurm.sh needs acct)
	[ -z "${BERTH_PBS_TARBALL:-}${PBS_EXEC:-}" ] || [ "$(id -u)" -ne 0 ] || scripts/pbs.sh deps # what a private PBS needs
	[ -n "${BERTH_NO_GRIDENGINE:-}" ] || [ "$(id -u)" -ne 0 ] || scripts/gridengine.sh deps # its tests need root
}

# Environments of Python. Tests find moto's by the same script.
environments() {
	{ [ -n "${BERTH_NO_MRJOB:-}" ] || scripts/mrjob.sh >"$logs/mrjob"; } && scripts/moto.sh &&
		{ [ -n "${BERTH_NO_DOORS:-}" ] || scripts/doors.sh >"$logs/doors"; }
}

# Eight tests of a package run at a time on any number of cores, as those that run beside others wait for processes. What
# they skip and which take long is written down for the end.
tests() {
	"$logs/summary" "$logs/$name" \
		go test -json -vet=off -ldflags='-s -w' -exec "$PWD/scripts/fuzz.sh" -timeout 30m -parallel 8 "$@"
}

# Compiles packages and their tests, and links nothing.
compiled() { go list -export -deps -test "$@" >"$logs/compiled"; }

# The code of tests is for make lint, as it takes staticcheck as long as all other code.
static() { go vet ./... && "$logs/staticcheck" -tests=false ./...; }

# raced COMMAND PACKAGE…: the command with the race detector. Without inlining, Amazon's packages take two thirds of the time.
raced() (
	export CGO_ENABLED=1 FUZZ_TIME="${FUZZ_TIME:-1000x}"
	command=$1
	shift
	for package in $UNFOLLOWED; do set -- "-gcflags=$package=-dwarf=false -race=false" "$@"; done
	"$command" -race '-gcflags=github.com/aws/...=-dwarf=false -l' "$@"
)

unformatted
begin installation debian
export CGO_ENABLED=0 GOGC=400 GOFLAGS="${GOFLAGS:-} -gcflags=all=-dwarf=false" # as make build has them
export BERTH_TEST_PROGRAM="$logs/berth"
# A change is judged by the same random cases each time. make soak and single runs of go test draw new ones; RAPID_SEED=0 does here.
export RAPID_SEED="${RAPID_SEED:-1}"
echo '== compiling'
go build -ldflags='-s -w' -o "$BERTH_TEST_PROGRAM" ./cmd/berth
go build -o "$logs/summary" ./test/summary
go build -o "$logs/staticcheck" honnef.co/go/tools/cmd/staticcheck
await installation
[ -z "$failed" ] || exit 1
begin environments environments
# The tests of other packages have the race detector; go vet needs no compiled tests.
# shellcheck disable=SC2086 # one word for each package
compiled ./test $PLAIN
await environments
[ ! -s "$logs/mrjob" ] || { BERTH_MRJOB=$(cat "$logs/mrjob") && export BERTH_MRJOB; }
[ ! -s "$logs/doors" ] || { BERTH_DOORS=$(cat "$logs/doors") && export BERTH_DOORS; }
# The tests of the whole program take longest, and wait most. Those of clusters and of other programs take longest among them: Go would
# start their parts after all other tests of the package, so they have a process of their own.
waiting='^Test(Alone|Batch|Slurm|MRJob|Doors)'
begin waiting tests -parallel 8 -run "$waiting" berth/test
begin whole tests -parallel 7 -skip "$waiting" berth/test
echo '== compiling with the race detector'
raced compiled $CLUSTERS || true # if this fails, the tests say it again
# shellcheck disable=SC2086 # one word for each package
begin clusters raced tests -p 1 $CLUSTERS
packages=$(concurrent)
# shellcheck disable=SC2086 # one word for each package
raced compiled $packages || true
# shellcheck disable=SC2086 # one word for each package
begin with_race_detector raced tests -p 3 $packages
# shellcheck disable=SC2086 # one word for each package
begin plain tests -p 3 $PLAIN
begin static static
for name in static plain with_race_detector clusters waiting whole; do await $name; done
echo '== skipped'
sort "$logs"/*.skipped
echo '== slowest'
sort -rn "$logs"/*.slow | head -n 30
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
