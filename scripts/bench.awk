# Makes tables of the lines of benchmarks: those with a target first, each with the value that has it.
BEGIN {
	FS = "[ \t]+"
	want("BagXargs", "ratio", "bag of 10,000 × `/bin/true` without output, over `xargs -P2 -n1`", "≤ 0.85")
	want("BagXargsKept", "ratio", "the same with output, which is collected above 2,000 tasks", "≤ 0.90")
	want("BagHyperQueue/none", "ratio/berth", "the same without output beside a coordinator that runs already", "≤ 0.85")
	want("BagHyperQueue/kept", "ratio/berth", "the same with output beside a coordinator that runs already", "≤ 0.90")
	want("BagHyperQueue/kept", "over-hq", "the same, over HyperQueue with output kept", "≤ 0.45")
	want("BagParallel", "ratio", "bag of 10,000 × `/bin/true`, over GNU parallel", "≤ 0.25")
	want("BagOne/beside", "ms", "bag of one task beside a coordinator", "≤ 30 ms")
	want("BagOne/alone", "ms", "bag of one task without one", "≤ 90 ms")
	want("Sort", "ratio", "sort 1 GiB of 100-byte records, identity mapper and reducer, 2 reduces, over `LC_ALL=C sort -S 512M --parallel=2`", "≤ 0.30")
	want("WordCount", "ratio", "word count of the Go source with awk scripts, over `cat … \\| mapper \\| LC_ALL=C sort \\| reducer`", "≤ 0.40")
	want("OpenClosed", "ratio", "10,000 × `/bin/true` in an open bag, over a closed one, from the first start to the end", "≤ 1.05")
	want("AddLines/calls=1", "s", "adding 100,000 tasks in lines to an open bag, in one call", "≤ 2 s")
	want("AddLines/calls=10", "s", "the same in ten calls", "≤ 2 s")
	want("OpenBag/needs=1", "B/task", "memory of the coordinator for each task of an open bag that waits", "≤ 200 B")
	want("OpenBag/needs=20", "B/task", "the same with 20 different needs", "≤ 200 B")
	want("Events", "lines/s", "events of `berth watch --json` on one core, lines a second", "≥ 20,000")
	want("Watch", "lines/cpu-s", "`berth watch --json` beside 100,000 × `/bin/true`, lines for each second of its processor time", "≥ 20,000")
	want("Search/10x10/unit=1/epsilon=0", "s", "exact front of 10 types of up to 10 machines that are paid by the second", "≤ 0.5 s")
	want("Search/10x10/unit=3600/epsilon=0", "s", "exact front of 10 types of up to 10 machines that are paid by the hour", "≤ 0.5 s")
	want("Search/20x100/unit=1/epsilon=0.01", "s", "front of 20 types of up to 100 machines that are paid by the second", "≤ 5 s")
	want("Search/20x100/unit=1/epsilon=0.01", "within", "its proven bound", "≤ 0.01")
	want("Search/20x100/unit=3600/epsilon=0.01", "s", "front of 20 types of up to 100 machines that are paid by the hour", "≤ 5 s")
	want("Search/20x100/unit=3600/epsilon=0.01", "within", "its proven bound", "≤ 0.01")
	want("Completions/tasks=1000000", "tasks/s", "engine alone, completions a second at a million tasks", "≥ 1,000,000")
	print "| what | target | measured | all values |\n|---|---|---|---|"
}

function want(name, unit, what, target) {
	units[name] = units[name] " " unit
	titles[name, unit] = what
	targets[name, unit] = target
}

/^exit/ { failed = 1; next }

{
	sub(/^Benchmark/, "", $1)
	sub(/-[0-9]+$/, "", $1)
	all = ""
	split("", values)
	for (i = 3; i < NF; i += 2) {
		if ($i == 0 && $(i + 1) == "ns/op") continue # the sum of all turns has no meaning there
		values[$(i + 1)] = $i
		if ($(i + 1) !~ /\/(low|high)$/) all = all (all == "" ? "" : ", ") $i " " $(i + 1)
	}
	n = split(units[$1], of, " ")
	for (i = 1; i <= n; i++)
		if (of[i] in values) printf "| %s | %s | %s | %s |\n", titles[$1, of[i]], targets[$1, of[i]], measured(of[i]), all
	if (n == 0) rest = rest sprintf("| `%s` | %s |\n", $1, all)
}

# measured writes a value with its interval if it has one.
function measured(unit) {
	if (!((unit "/low") in values)) return round(values[unit])
	return round(values[unit]) " (" round(values[unit "/low"]) " to " round(values[unit "/high"]) ")"
}

# round writes three digits.
function round(x) { return x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }

END {
	if (rest != "") printf "\nBenchmarks without a target of their own:\n\n| benchmark | values |\n|---|---|\n%s", rest
	exit failed
}
