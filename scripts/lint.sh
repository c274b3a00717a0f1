#!/bin/sh
# Format, vet and staticcheck; the import rules are a test, test/arch.
set -eu
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l cmd internal lab test)
[ -z "$unformatted" ] || { echo "not formatted with gofmt: $unformatted" >&2; exit 1; }
go vet ./...
go tool staticcheck ./...
