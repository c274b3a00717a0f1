#!/bin/bash
# Replaces the tables of simulations in lab/results/stragglers.md, between their marks. It takes about 15 minutes of two cores.
#
#   stragglers-sim.sh BERTH_LAB PAGE [FLAG…]      flags are those of berth-lab stragglers
set -euo pipefail
berth=$1 page=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# table TITLE FLAG… prints one table with its title.
table() {
	local title=$1
	shift
	"$berth" stragglers --out "$dir/out" "$@" >/dev/null
	printf '%s\n\n' "$title"
	cat "$dir/out/stragglers.md"
	printf '\n'
}
{
	printf 'Measured %s with commit %s.\n\n' "$(date +%F)" "$(git rev-parse --short HEAD)"
	table 'Cluster:' --place cluster "$@"
	table 'Cloud, 100 tasks:' --place cloud --tasks 100 "$@"
	table 'Nodes that hang, 100 tasks:' --place hangs --tasks 100 "$@"
	table "The paper's threshold T (its figure 16), cap3 on the cluster:" --job cap3 --tasks 100 --rule paper --t 0.05,0.1,0.2,0.3,0.4,0.6,0.8 "$@"
} >"$dir/tables.md"
awk -v table="$dir/tables.md" '
	/<!-- simulated:end -->/ { skip = 0 }
	!skip { print }
	/<!-- simulated:begin -->/ { skip = 1; while ((getline line < table) > 0) print line }
' "$page" >"$dir/page"
cat "$dir/page" >"$page"
