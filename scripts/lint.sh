#!/bin/sh
# Format, vet and staticcheck; the import rules are a test, internal/archtest.
set -eu
cd "$(dirname "$0")/.."
unformatted=$(gofmt -l cmd internal test)
[ -z "$unformatted" ] || { echo "not formatted with gofmt: $unformatted" >&2; exit 1; }
go vet ./...
go tool staticcheck ./...
