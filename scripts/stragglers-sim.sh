#!/bin/bash
# Prints the tables of simulations in lab/results/stragglers.md. It takes about 15 minutes of two cores.
#
#   stragglers-sim.sh BERTH_LAB [FLAG…]      flags are those of berth-lab stragglers
set -euo pipefail
berth=$1
shift
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
table 'Cluster:' --place cluster "$@"
table 'Cloud:' --place cloud "$@"
table 'Nodes for a quarter of the tasks:' --place narrow "$@"
table 'Nodes that hang, 100 tasks:' --place hangs --tasks 100 "$@"
thresholds=nothing
for t in 0.05 0.1 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.8; do thresholds+=,paper:$t,paper-abort:$t; done
table "The paper's threshold T (its figure 16), on the cluster:" --tasks 100 --rule "$thresholds" "$@"
