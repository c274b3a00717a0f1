[.[] | select(.amount % 7 == 0) | {name, n: (.amount / 7), k: .kind[0]}] | group_by(.k) | map({k: .[0].k, total: (map(.n) | add), names: (map(.name) | unique | length)}) | sort_by(.total)
