#!/bin/bash
# Replaces the tables of simulations in lab/results/phases.md, between their marks. It takes a few minutes of one core.
#
#   phases-sim.sh BERTH_LAB PAGE [FLAG…]      flags are those of berth-lab phases
set -euo pipefail
berth=$1 page=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$berth" phases --alpha 0,0.5,2,4 --ablation --out "$dir" "$@"
{ printf 'Measured %s with commit %s.\n\n' "$(date +%F)" "$(git rev-parse --short HEAD)" && cat "$dir/phases.md"; } >"$dir/tables.md"
awk -v table="$dir/tables.md" '
	/<!-- simulated:end -->/ { skip = 0 }
	!skip { print }
	/<!-- simulated:begin -->/ { skip = 1; while ((getline line < table) > 0) print line }
' "$page" >"$dir/page"
cat "$dir/page" >"$page"
