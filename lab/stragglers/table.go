package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/lab/paired"
	"berth/lab/rules"
)

// tables is the text between the marks of the document.
func tables(res *results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d workers, each with %.2f of a core of one machine that has %d; %d tasks of %g CPU seconds or so, which all begin at once. In each turn %d of them has its node become slow, "+
		"within the first half of what a task takes, by a factor of 2, 3 or 4, until the job is over: half of the times as hogs compute beside its task, else as it gets a smaller part of a core. "+
		"All rules of a turn have the same task's node become slow at the same moment of that task. Their progress is measured by the source %s. Against nothing are times of what the median task of the same run took, as this machine is not as fast at all times; medians of the turns, with 95 %% intervals by bootstrap.\n",
		res.Nodes, res.Cores, res.Machine, res.Tasks, res.Work, res.Slow, res.Progress)
	for _, e := range examples {
		b.WriteString(jobTable(res, e))
	}
	b.WriteString(paperTable(res) + predictionTable(res) + failures(res))
	return b.String()
}

// rules returns the names of all rules, those with a threshold that runs have last.
func (r *results) rules() []string {
	names := rules.Names(rules.All())
	for _, n := range r.Runs {
		if !slices.Contains(names, n.Rule) {
			names = append(names, n.Rule)
		}
	}
	return names
}

// of returns the completed runs of a job under a rule.
func (r *results) of(job, rule string) (runs []run) {
	for _, n := range r.Runs {
		if n.Job == job && n.Rule == rule && n.Error == "" {
			runs = append(runs, n)
		}
	}
	return runs
}

// against returns, for each run of a job under a rule, the relative difference of a value to that
// under nothing in the same turn.
func (r *results) against(job, rule string, value func(run) float64) (shares []float64) {
	for _, n := range r.of(job, rule) {
		for _, m := range r.of(job, "nothing") {
			if n.Repeat == m.Repeat {
				shares = append(shares, value(n)/value(m)-1)
			}
		}
	}
	return shares
}

// compared returns the median of against with its interval, or nothing for the rule nothing itself.
func compared(res *results, job, rule string, value func(run) float64) string {
	if rule == "nothing" {
		return ""
	}
	return paired.Of(res.against(job, rule, value)).String()
}

func completion(n run) float64 { return n.Completion }
func cpu(n run) float64        { return n.CPU }

// typical returns the duration of the median task of a run, by which times of runs are divided,
// because the speed of a shared machine varies.
func typical(n run) float64 {
	if len(n.Took) == 0 {
		return 1
	}
	return quantile(slices.Sorted(slices.Values(n.Took)), 0.5)
}

func times(n run) float64    { return n.Completion / typical(n) }
func cpuTimes(n run) float64 { return n.CPU / typical(n) }

func jobTable(res *results, e example) string {
	var b strings.Builder
	for _, rule := range res.rules() {
		runs := res.of(e.name, rule)
		if len(runs) == 0 {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "\n**%s**\n\n| rule | turns | completion, s: mean (best to worst) | of the median task's time | relative to nothing | of the way to no slow node | CPU s | relative to nothing | attempts beyond one a task | killed |\n|---|---|---|---|---|---|---|---|---|---|\n", e.title)
		}
		took, used := values(runs, completion), values(runs, cpu)
		fmt.Fprintf(&b, "| `%s` | %d | %.1f (%.1f to %.1f) | %.2f | %s | %s | %.1f | %s | %.1f | %.1f |\n", rule, len(runs), mean(took), slices.Min(took), slices.Max(took),
			mean(values(runs, times)), compared(res, e.name, rule, times), res.way(e.name, rule), mean(used), compared(res, e.name, rule, cpuTimes),
			mean(values(runs, func(n run) float64 { return float64(n.Attempts - n.Tasks) })), mean(values(runs, func(n run) float64 { return float64(n.Killed) })))
	}
	if runs := res.of(e.name, "nothing"); len(runs) > 0 {
		best := values(runs, least)
		fmt.Fprintf(&b, "| at best | %d | %.1f (%.1f to %.1f) | %.2f | %s | | | | | |\n", len(runs), mean(best), slices.Min(best), slices.Max(best), mean(values(runs, func(n run) float64 { return least(n) / typical(n) })), paired.Of(values(runs, func(n run) float64 { return least(n)/n.Completion - 1 })))
	}
	return b.String()
}

// least returns the best possible completion of a job that ran without duplicates: each task whose
// node became slow has a duplicate at that moment, which takes the median of the other tasks' times.
func least(n run) float64 {
	took := slices.Sorted(slices.Values(n.Took))
	healthy := took[:max(len(took)-len(n.Episodes), 0)]
	if len(healthy) == 0 {
		return n.Completion
	}
	end := healthy[len(healthy)-1]
	for _, e := range n.Episodes {
		end = max(end, e.After+quantile(healthy, 0.5))
	}
	return n.Completion - max(took[len(took)-1]-end, 0)
}

// healthy returns the completion of a job that ran without duplicates as if no node had become slow: its last task would
// then be the last of the others.
func healthy(n run) float64 {
	took := slices.Sorted(slices.Values(n.Took))
	if len(took) <= len(n.Episodes) {
		return n.Completion
	}
	return n.Completion - (took[len(took)-1] - took[len(took)-1-len(n.Episodes)])
}

// way returns the part of the way from nothing to no slow node at all that a rule goes: the median over turns.
func (r *results) way(job, rule string) string {
	var parts []float64
	for _, n := range r.of(job, rule) {
		for _, m := range r.of(job, "nothing") {
			if cost := (m.Completion - healthy(m)) / typical(m); n.Repeat == m.Repeat && cost > 0 {
				parts = append(parts, (times(m)-times(n))/cost)
			}
		}
	}
	if rule == "nothing" || len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return strings.Replace(fmt.Sprintf("%.0f %%", 100*quantile(parts, 0.5)), "-", "−", 1)
}

// paperFigures are the paper's results for comparison.
var paperFigures = []struct {
	figure, what, job, rule, paper string
	value                          func(run) float64
}{
	{"10", "Cap3 on a cluster, speculation: completion", "assembly", "paper", "−25 %, worst turn a little longer", times},
	{"11", "Gaussian blur, speculation: completion", "blur", "paper", "−25 %", times},
	{"12", "Cap3, speculation: CPU", "assembly", "paper", "+20 to +30 %", cpuTimes},
	{"12", "Gaussian blur, speculation: CPU", "blur", "paper", "+20 to +30 %", cpuTimes},
	{"14", "Cap3 in a cloud: completion", "assembly", "paper", "−15 to −22 %", times},
	{"15", "Cap3 in a cloud, aborting: CPU", "assembly", "paper-abort", "+4 to +5 %", cpuTimes},
	{"17", "Cap3, aborting: completion", "assembly", "paper-abort", "−25 %", times},
	{"18", "Gaussian blur, aborting: completion", "blur", "paper-abort", "about −17 %: 10 % longer than with speculation", times},
	{"19", "Cap3, aborting: CPU", "assembly", "paper-abort", "about +10 %", cpuTimes},
	{"19", "Gaussian blur, aborting: CPU", "blur", "paper-abort", "about +10 %", cpuTimes},
}

func paperTable(res *results) string {
	var b strings.Builder
	b.WriteString("\n**The paper's figures**, each relative to the rule nothing. The clouds and clusters are the paper's; here both are these workers.\n\n| figure | | paper | its rule here | `berth` here |\n|---|---|---|---|---|\n")
	for _, f := range paperFigures {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.figure, f.what, f.paper, compared(res, f.job, f.rule, f.value), compared(res, f.job, "berth", f.value))
	}
	return b.String()
}

// predictionTable compares the ends of attempts with the predictions of berth's rule at half of
// their run. The other rules predict nothing.
func predictionTable(res *results) string {
	var b strings.Builder
	b.WriteString("\n**The end of a running task, as expected when half of its time was over**, under berth's rule; errors are of the time that it took. " +
		"*Steady* are attempts whose node did not become slow after that moment.\n\n" +
		"| job | source of progress | attempts | median error | steady | median error | 90 % are below | within 10 % |\n|---|---|---|---|---|---|---|---|\n")
	for _, e := range examples {
		all, steady := make(map[string][]float64), make(map[string][]float64)
		for _, n := range res.of(e.name, "berth") {
			for _, p := range n.Predictions {
				for _, source := range []string{p.Source, "all"} {
					all[source] = append(all[source], math.Abs(p.Off))
					if !p.Changed {
						steady[source] = append(steady[source], math.Abs(p.Off))
					}
				}
			}
		}
		for _, source := range []string{"hits", "input", "instructions", "io", "cpu", "all"} {
			if len(steady[source]) > 0 {
				b.WriteString(predictionRow(e.name, source, all[source], steady[source]))
			}
		}
	}
	return b.String()
}

func predictionRow(job, source string, all, steady []float64) string {
	slices.Sort(all)
	slices.Sort(steady)
	within := 0
	for _, x := range steady {
		if x <= 0.1 {
			within++
		}
	}
	return fmt.Sprintf("| %s | %s | %d | %.1f %% | %d | %.1f %% | %.1f %% | %.0f %% |\n", job, source, len(all), 100*quantile(all, 0.5),
		len(steady), 100*quantile(steady, 0.5), 100*quantile(steady, 0.9), 100*float64(within)/float64(len(steady)))
}

// failures lists the runs that failed.
func failures(res *results) string {
	var b strings.Builder
	for _, n := range res.Runs {
		if n.Error != "" && !res.has(n.Job, n.Rule, n.Repeat) {
			line, _, _ := strings.Cut(n.Error, "\n")
			fmt.Fprintf(&b, "\n%s under %s, turn %d, failed: %s\n", n.Job, n.Rule, n.Repeat+1, line)
		}
	}
	return b.String()
}

func values(runs []run, of func(run) float64) (all []float64) {
	for _, n := range runs {
		all = append(all, of(n))
	}
	return all
}

func mean(all []float64) (m float64) {
	for _, v := range all {
		m += v / float64(len(all))
	}
	return m
}

// quantile returns the value below which the given part of sorted values lies.
func quantile(sorted []float64, part float64) float64 {
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
