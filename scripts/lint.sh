#!/bin/sh
# Format, vet and staticcheck; the import rules are a test, test/arch.
set -eu
cd "$(dirname "$0")/.."
. scripts/checks.sh
unformatted
go vet ./...
go tool staticcheck ./...
