#!/bin/bash
# Prints the table in lab/results/starts.md. It takes some minutes a log, and about ten for the largest ones.
#
#   starts.sh BERTH_LAB SEEDS LOG…      SEEDS of the first log, with blanks between; the others have the first of them
set -euo pipefail
berth=$1 seeds=$2
shift 2
echo '| log | seed | jobs | start to 10 min, % | mean error, s | of that by limits | in the band of 80 %, % | all nodes · 1 h: % sooner | an eighth of that: % sooner |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|'
for log in "$@"; do
	for seed in $seeds; do
		"$berth" starts --swf "$log" --samples 2000 --seed "$seed" --row
	done
	seeds=${seeds%% *}
done
