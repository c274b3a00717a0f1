#!/bin/sh
# Checks the part that matters while one works, in less than a minute if most of it is compiled: format, vet, the tests of what decides,
# the architecture, and the tests of other packages whose files differ from the last commit. Properties run with a fifth of the cases.
set -eu
cd "$(dirname "$0")/.."
. scripts/checks.sh
unformatted
go vet ./...
changed=$({ git diff --name-only HEAD && git ls-files --others --exclude-standard; } |
	sed -n 's|^\(internal/.*\)/[^/]*\.go$|./\1|p' | sort -u | while read -r dir; do [ ! -d "$dir" ] || echo "$dir"; done)
# shellcheck disable=SC2086 # one word for each package
go test -short -vet=off $PURE $changed
