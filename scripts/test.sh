#!/bin/sh
# Runs every check of the project, side by side, as many tests wait more than they compute. Installs what is missing from Debian
# and PyPI. BERTH_NO_SLURM=1 leaves out the tests with Slurm, BERTH_NO_MRJOB=1 those with mrjob.
set -eu
cd "$(dirname "$0")/.."
. scripts/checks.sh
export CGO_ENABLED=0
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
	scripts/deps.sh gcc='gcc libc6-dev' awk=mawk python3=python3 zstd=zstd bzip2=bzip2 \
		/usr/bin/convert=imagemagick velveth=velvet sshd=openssh-server ssh=openssh-client ip=iproute2 tc=iproute2 \
		chromium=chromium \
		$(python3 -c 'import ensurepip, venv' 2>/dev/null || echo ensurepip=python3-venv) \
		$([ -n "${BERTH_NO_SLURM:-}" ] || scripts/slurm.sh needs acct)
}

# Environments of Python. Tests find moto's by the same script.
environments() {
	{ [ -n "${BERTH_NO_MRJOB:-}" ] || scripts/mrjob.sh >"$logs/mrjob"; } && scripts/moto.sh
}

# Eight tests of a package run at a time on any number of cores, as those that run beside others wait for processes.
tests() { go test -vet=all -timeout 30m -parallel 8 "$@"; }

# Tests of packages, and each of their fuzz targets by the same build.
tests_and_targets() { tests -exec "$PWD/scripts/fuzz.sh" "$@"; }

# The flags are in the variable, because the test of the architecture asks for the compiled packages.
decisions() {
	# shellcheck disable=SC2046,SC2086 # one word for each package
	GOFLAGS="${GOFLAGS:-} $(instrumented $(fuzzed $PLAIN) | xargs)"
	export GOFLAGS
	# shellcheck disable=SC2086
	tests_and_targets $PLAIN
}

# A test links the program as users get it, and so all is compiled without the race detector, too: staticcheck reads that.
laboratory() {
	export CGO_ENABLED=0
	go build ./... && nice "$logs/staticcheck" ./... && tests ./lab/... ./cmd/...
}

unformatted
begin installation debian
begin decisions decisions
await installation
[ -z "$failed" ] || exit 1
begin environments environments
go build -o "$logs/staticcheck" honnef.co/go/tools/cmd/staticcheck

export CGO_ENABLED=1 # the race detector needs it
export GORACE=atexit_sleep_ms=0 # a program that it follows waits for a second at its end, unless told otherwise
all=$(go list ./...)
# shellcheck disable=SC2046,SC2086 # one word for each package
{
	rest=$(echo "$all" | but "$(go list $PLAIN ./lab/... ./cmd/...)")
	fuzzed=$(fuzzed $rest)
	echo '== compiling with the race detector'
	go build -race $rest
	export BERTH_TEST_PROGRAM="$logs/berth"
	go build -race -ldflags='-s -w' -o "$BERTH_TEST_PROGRAM" ./cmd/berth
	await environments
	[ ! -s "$logs/mrjob" ] || { BERTH_MRJOB=$(cat "$logs/mrjob") && export BERTH_MRJOB; }
	begin fuzzed tests_and_targets -race -p 2 $(instrumented $fuzzed) $fuzzed
	begin laboratory laboratory
	echo '== tests with the race detector; those of the whole come first, as they take longest'
	tests -race -p 3 berth/test $(echo "$rest" | but "$fuzzed" | but berth/test) || failed="$failed tests"
}
for name in laboratory fuzzed decisions; do await $name; done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
