#!/bin/sh
# Counts the words of the Go toolchain's own source, its *.go files, and prints the ten most frequent.
# It runs on this machine, also where Slurm's commands are installed.
set -eu
berth=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
scripts=$(dirname "$0")/../examples/wordcount
"$berth" mapreduce --on local \
	-input "$(go env GOROOT)/src" -output "$out/counts" \
	-mapper "$scripts/map.sh" -combiner "$scripts/reduce.sh" -reducer "$scripts/reduce.sh" \
	-jobconf mapreduce.job.name=wordcount -jobconf 'berth.input.include=*.go'
echo 'the ten most frequent words:'
cat "$out"/counts/part-* | sort -t "$(printf '\t')" -k2,2nr -k1,1 | head -n 10
