#!/bin/sh
# Builds berth of an older commit in bin/, unless it is there, and prints its path: older.sh COMMIT
set -eu
cd "$(dirname "$0")/.."
berth=$PWD/bin/older-$1/berth
if [ ! -x "$berth" ]; then
	git cat-file -e "$1^{commit}" || { echo "older.sh: this checkout has not the commit $1; fetch all of its history" >&2; exit 1; }
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	git clone -q --shared --no-checkout . "$tmp"
	git -C "$tmp" checkout -q "$1"
	(cd "$tmp" && GOGC=400 go build -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$berth" ./cmd/berth) >&2
fi
echo "$berth"
