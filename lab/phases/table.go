package main

import (
	"fmt"
	"math"
	"strings"

	"berth/lab/paired"
)

// tables is the text between the marks of the document.
func tables(res *results) string {
	var b strings.Builder
	if res.Node.Cores > 0 {
		n := res.Node
		fmt.Fprintf(&b, "Three nodes; each has %d core, %d MB of memory, a network of %d Mb/s each way and a disk of %d MB/s. Input of", n.Cores, n.Mem, n.Net, n.Disk)
		var inputs []string
		for _, j := range jobs {
			inputs = append(inputs, fmt.Sprintf("%s %g MB", j.name, j.scale*float64(res.SizeMB)))
		}
		b.WriteString(" " + strings.Join(inputs, ", ") + ".\n")
		if nodes*n.Cores > res.Machine {
			fmt.Fprintf(&b, "\nThe machine has %d cores: where all nodes compute at once, each gets %.2f of a core's time.\n", res.Machine, float64(res.Machine)/float64(nodes*n.Cores))
		}
		for _, u := range res.Unlimited {
			fmt.Fprintf(&b, "\nNot limited: %s.\n", u)
		}
	}
	b.WriteString(aloneTable(res) + batchTable(res) + predictionTable(res) + mixTable(res) + failures(res) + pictures(res))
	return b.String()
}

// measured is the mean and the half-width of the 95 % interval of repeated measurements.
type measured struct {
	mean, half float64
	n          int
}

// student has the quantiles of Student's distribution for 95 %, by degrees of freedom.
var student = []float64{0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}

func over(values []float64) (m measured) {
	m.n = len(values)
	if m.n == 0 {
		m.mean = math.NaN()
		return m
	}
	for _, v := range values {
		m.mean += v / float64(m.n)
	}
	if m.n > 1 {
		ss := 0.0
		for _, v := range values {
			ss += (v - m.mean) * (v - m.mean)
		}
		m.half = student[min(m.n-1, len(student)-1)] * math.Sqrt(ss/float64(m.n-1)/float64(m.n))
	}
	return m
}

// text formats the mean, and the half-width if there are several values.
func (m measured) text(decimals int) string {
	switch {
	case m.n == 0:
		return "–"
	case m.n == 1:
		return fmt.Sprintf("%.*f", decimals, m.mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, m.mean, decimals, m.half)
}

// each returns a measure over the runs of a scheduler.
func each(runs []run, of func(*run) float64) measured {
	var values []float64
	for i := range runs {
		values = append(values, of(&runs[i]))
	}
	return over(values)
}

// present are the schedulers with results.
func present(res *results, part string) (known []string) {
	for _, s := range schedulers {
		for _, j := range jobs {
			if len(res.of(s, part, j.name)) > 0 {
				known = append(known, s)
				break
			}
		}
	}
	return known
}

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func head(b *strings.Builder, first string, columns []string) {
	row(b, append([]string{first}, columns...)...)
	b.WriteString("|---|" + strings.Repeat("--:|", len(columns)) + "\n")
}

// aloneTable has the completion of each job by itself; the best is bold.
func aloneTable(res *results) string {
	columns := present(res, alone)
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nEach job alone: seconds from submission to end; lower is better, and the best is bold.\n\n")
	head(&b, "job", append(columns, ours+" / best"))
	for _, j := range jobs {
		best, own := math.Inf(1), math.NaN()
		cells := make([]measured, len(columns))
		for i, s := range columns {
			cells[i] = each(res.of(s, alone, j.name), func(r *run) float64 { return r.Jobs[0].completion() })
			if cells[i].n > 0 {
				best = min(best, cells[i].mean)
			}
			if s == ours {
				own = cells[i].mean
			}
		}
		if math.IsInf(best, 1) {
			continue
		}
		line := []string{j.name}
		for _, c := range cells {
			line = append(line, bold(c.text(1), c.mean == best))
		}
		row(&b, append(line, ratio(own/best))...)
	}
	return b.String()
}

func bold(text string, yes bool) string {
	if yes {
		return "**" + text + "**"
	}
	return text
}

func ratio(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

// batchTable has the results of all jobs at once.
func batchTable(res *results) string {
	columns := present(res, batch)
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nA batch of %d jobs submitted at once:\n\n", len(res.of(columns[0], batch, "")[0].Jobs))
	head(&b, "", columns)
	for _, m := range batchMeasures(res) {
		line := []string{m.name}
		for _, s := range columns {
			line = append(line, each(res.of(s, batch, ""), m.of).text(m.decimals))
		}
		row(&b, line...)
	}
	return b.String() + comparison(res, columns)
}

// comparison compares the other schedulers with ours, in the batches of the same turn.
func comparison(res *results, columns []string) string {
	var b strings.Builder
	b.WriteString("\nBatches under `" + ours + "` relative to those under another scheduler in the same turn: median, and its 95 % interval by bootstrap.\n\n")
	head(&b, "relative to", []string{"mean completion", "makespan"})
	for _, s := range columns {
		if s != ours {
			row(&b, s, res.against(s, (*run).mean).String(), res.against(s, func(r *run) float64 { return r.Makespan }).String())
		}
	}
	return b.String()
}

// against returns the relative difference of a value of our batches to those of another scheduler.
func (r *results) against(other string, value func(*run) float64) paired.Difference {
	var differences []float64
	for _, own := range r.of(ours, batch, "") {
		for _, its := range r.of(other, batch, "") {
			if own.Repeat == its.Repeat {
				differences = append(differences, value(&own)/value(&its)-1)
			}
		}
	}
	return paired.Of(differences)
}

// measureOf is a row of the table of batches.
type measureOf struct {
	name     string
	decimals int
	of       func(*run) float64
}

func batchMeasures(res *results) []measureOf {
	share := func(of func(use) float64, capacity float64) func(*run) float64 {
		return func(r *run) float64 { return 100 * r.used(of) / capacity }
	}
	n := res.Node
	return []measureOf{
		{"mean completion, s", 1, (*run).mean},
		{"makespan, s", 1, func(r *run) float64 { return r.Makespan }},
		{"CPU used, %", 0, share(func(u use) float64 { return u.CPU }, min(float64(n.Cores), float64(res.Machine)/nodes))},
		{"memory used, %", 0, share(func(u use) float64 { return u.Mem }, float64(n.Mem)*(1<<20))},
		{"disk used, %", 0, share(func(u use) float64 { return u.Disk }, float64(n.Disk)*1e6)},
		{"network used, %", 0, share(func(u use) float64 { return (u.In + u.Out) / 2 }, float64(n.Net)*1e6/8)},
		{"map output read on its own node, %", 0, func(r *run) float64 { return 100 * r.local() }},
		{"attempts", 0, func(r *run) float64 { return float64(r.attempts()) }},
		{"seconds of failed and lost attempts", 1, (*run).wasted},
	}
}

// used is the mean use of a node over the run.
func (r *run) used(of func(use) float64) float64 {
	sum, n := 0.0, 0
	for _, s := range r.Samples {
		for _, u := range s.Node {
			sum += of(u)
			n++
		}
	}
	return sum / float64(max(1, n))
}

// local is the fraction of bytes of map outputs that reduces read on the node that made them.
func (r *run) local() float64 {
	var all, moved float64
	for i := range r.Jobs {
		all, moved = all+r.Jobs[i].Shuffled, moved+r.Jobs[i].moved()
	}
	if all == 0 {
		return math.NaN()
	}
	return 1 - moved/all
}

func (r *run) attempts() (n int) {
	for _, j := range r.Jobs {
		n += j.Attempts
	}
	return n
}

func (r *run) wasted() (s float64) {
	for _, j := range r.Jobs {
		s += j.Wasted
	}
	return s
}

// mixTable compares both schedulers on this machine without limits.
func mixTable(res *results) string {
	columns := present(res, mix)
	if len(columns) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nFour jobs at once on one machine without limits (%s); seconds, lower is better:\n\n", strings.Join(mixed, ", "))
	head(&b, "", columns)
	for _, m := range []measureOf{{"mean completion", 2, (*run).mean}, {"makespan", 2, func(r *run) float64 { return r.Makespan }}} {
		line := []string{m.name}
		for _, s := range columns {
			line = append(line, each(res.of(s, mix, ""), m.of).text(m.decimals))
		}
		row(&b, line...)
	}
	return b.String()
}

// pictures links to the figures for which there are results.
func pictures(res *results) (text string) {
	if useCharts(res) != nil {
		text += fmt.Sprintf("\nThe sort alone: use of each node over time under three schedulers (as in figures 10 to 12 of the paper).\n\n![use over time](%s)\n", useFigure)
	}
	if batchCharts(res) != nil {
		text += fmt.Sprintf("\nThe batch under each scheduler: completion, use of resources, locality (as in figures 15 to 19 of the paper).\n\n![the batch](%s)\n", batchFigure)
	}
	return text
}

// failures lists the failed runs.
func failures(res *results) string {
	var b strings.Builder
	for _, r := range res.Runs {
		if r.Error != "" {
			fmt.Fprintf(&b, "\nFailed: %s under %s, repetition %d: %s\n", r.Part, r.Scheduler, r.Repeat+1, r.Error)
		}
	}
	return b.String()
}
