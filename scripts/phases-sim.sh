#!/bin/bash
# Prints the tables of simulations in lab/results/phases.md. It takes a few minutes of one core.
#
#   phases-sim.sh BERTH_LAB [FLAG…]      flags are those of berth-lab phases
set -euo pipefail
berth=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
table() { # TITLE [FLAG…]
    printf '%s\n\n' "$1"
    "$berth" phases --out "$dir" "${@:2}" >&2
    cat "$dir/phases.md"
    printf '\n'
}
table "All schedulers with berth's memory for sorting:" --alpha 0,0.5,2,4 --ablation "$@"
paper=(--fixed-buffers --scheduler slots,containers,prism,cores,phases
    --workload sort-5g,puma-50,puma-100,puma-150,puma-200,gridmix-50,gridmix-100,gridmix-150,gridmix-200)
for loss in 0 0.05 0.1; do
    table "All with Hadoop's fixed buffers, disks that each further stream slows down by $loss:" "${paper[@]}" --disk-loss $loss "$@"
done
