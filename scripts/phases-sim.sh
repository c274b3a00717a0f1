#!/bin/bash
# Prints the tables of simulations in lab/results/phases.md. It takes a few minutes of one core.
#
#   phases-sim.sh BERTH_LAB [FLAG…]      flags are those of berth-lab phases
set -euo pipefail
berth=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$berth" phases --alpha 0,0.5,2,4 --ablation --out "$dir" "$@" >&2
cat "$dir/phases.md"
