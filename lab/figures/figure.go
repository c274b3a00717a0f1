package main

import (
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figure is one cell of a table in a page of results, and what it should be.
type figure struct {
	name, page string
	after      string // a text in the page after which the table begins
	until      string // a text before which it ends; with it the worst of all cells counts, else the first
	row        string // a part of the row's first cells
	column     string // a part of the column's heading
	target     float64
	unit       string
	more       bool // more is better
}

// figures are those of the page. The text of pages is in front of the table that follows it.
var figures = []figure{
	{name: "bag of `/bin/true`, over xargs", page: "performance", row: "bag of 10,000 × `/bin/true` without output", column: "measured", target: 0.85, unit: "×"},
	{name: "the same, with collected output", page: "performance", row: "the same with output", column: "measured", target: 0.9, unit: "×"},
	{name: "the same, over HyperQueue", page: "performance", row: "over HyperQueue with output kept", column: "measured", target: 0.45, unit: "×"},
	{name: "bag of one task beside a coordinator", page: "performance", row: "bag of one task beside a coordinator", column: "measured", target: 30, unit: "ms"},
	{name: "bag of one task without one", page: "performance", row: "bag of one task without one", column: "measured", target: 90, unit: "ms"},
	{name: "sort, over GNU sort", page: "performance", row: "sort 1 GiB", column: "measured", target: 0.3, unit: "×"},
	{name: "word count, over the pipeline", page: "performance", row: "word count of the Go source", column: "measured", target: 0.4, unit: "×"},
	{name: "exact front of 10 types of up to 10 machines, the slower of two units", page: "performance", until: "<!-- bench:end -->",
		row: "exact front of 10 types", column: "measured", target: 0.5, unit: "s"},
	{name: "front of 20 types of up to 100 machines, likewise", page: "performance", until: "<!-- bench:end -->",
		row: "front of 20 types", column: "measured", target: 5, unit: "s"},
	{name: "its proven bound, the larger of both", page: "performance", until: "<!-- bench:end -->",
		row: "its proven bound", column: "measured", target: 0.01},
	{name: "2,000 workers: tasks a second", page: "load", row: "tasks a second", column: "measured", target: 20000, more: true},
	{name: "`berth status` meanwhile", page: "load", row: "`berth status JOB` meanwhile", column: "measured", target: 100, unit: "ms"},
	{name: "workers back after kill -9", page: "load", row: "killed with -9", column: "measured", target: 15, unit: "s"},
	{name: "page of a bag of 1,000,000 tasks", page: "load", row: "in Chromium", column: "measured", target: 2, unit: "s"},
	{name: "what is sent for it", page: "load", row: "in Chromium", column: "measured", target: 20, unit: "MB"},
	{name: "bag of 10,000,000 tasks: submission", page: "load", row: "tasks: submission", column: "measured", target: 20, unit: "s"},
	{name: "its memory in the coordinator", page: "load", row: "largest memory of the coordinator", column: "measured", target: 500, unit: "MB"},
	{name: "`berth status` beside the runs of 90 days", page: "load", row: "runs that are over", column: "measured", target: 50, unit: "ms"},
	{name: "rounds of faults, of the family with the fewest, none of which failed", page: "soak", row: "with no failure in any:", target: 1000, more: true},
	{name: "turnaround on Slurm, situations within 10 % of the best", page: "turnaround", after: "<!-- table:begin -->", row: "within 10 % of the best in", target: 20, more: true},
	{name: "60 drawn situations, over the best habit, geometric mean", page: "turnaround", after: "<!-- drawn:begin -->", row: "; it takes", target: 1, unit: "×"},
	{name: "the same, at worst", page: "turnaround", after: "<!-- drawn:begin -->", row: "time in the geometric mean,", target: 1.1, unit: "×"},
	{name: "Snakemake's workflow of short jobs, over its own executor", page: "engines", row: "snakemake | in three layers | berth", column: "makespan, berth's", target: 0.5, unit: "×"},
	{name: "Nextflow's workflow of short jobs, likewise", page: "engines", row: "nextflow | in three layers | berth", column: "makespan, berth's", target: 0.5, unit: "×"},
	{name: "gangs beside small tasks: of the best packing", page: "gangs", row: "berth", column: "of the best packing", target: 85, unit: "%", more: true},
	{name: "the same, over HyperQueue", page: "gangs", until: "<!-- gangs:end -->", row: "HyperQueue", column: "berth's makespan", target: 0.9, unit: "×"},
	{name: "rented machines: median error of the predicted time", page: "rented", row: "Configurations: median error", target: 5, unit: "%"},
	{name: "the same, along a front", page: "rented", row: "Points of a front: median error", target: 5, unit: "%"},
	{name: "simulation of phases: mean error", page: "phases", row: "The mean error is", target: 10, unit: "%"},
	{name: "the same, in the worst cell", page: "phases", row: "that of the worst cell", target: 25, unit: "%"},
	{name: "slow tasks, 100 on a cluster, simulated: part of the way", page: "stragglers", after: "Cluster:", until: "Cloud:",
		row: ", 100 tasks | `berth`", column: "of the way", target: 85, unit: "%", more: true},
	{name: "slow tasks, 1,000 on a cluster, simulated: part of the way", page: "stragglers", after: "Cluster:", until: "Cloud:",
		row: ", 1000 tasks | `berth`", column: "of the way", target: 85, unit: "%", more: true},
	{name: "slow tasks, 100 in the cloud, simulated: part of the way", page: "stragglers", after: "Cloud:", until: "Nodes for",
		row: ", 100 tasks | `berth`", column: "of the way", target: 85, unit: "%", more: true},
	{name: "slow tasks, 1,000 in the cloud, simulated: part of the way", page: "stragglers", after: "Cloud:", until: "Nodes for",
		row: ", 1000 tasks | `berth`", column: "of the way", target: 85, unit: "%", more: true},
	{name: "slow tasks, the worst of these simulations: processor time more", page: "stragglers", after: "Cluster:", until: "Nodes for",
		row: "tasks | `berth`", column: "extra CPU", target: 5, unit: "%"},
	{name: "slow tasks, real, assembly: part of the way", page: "stragglers", after: "**assembly", row: "`berth`", column: "of the way", target: 70, unit: "%", more: true},
	{name: "the same: processor time more", page: "stragglers", after: "**The paper's figures**", row: "12 | Cap3", column: "`berth` here", target: 5, unit: "%"},
	{name: "slow tasks, real, blur: part of the way", page: "stragglers", after: "**blur", row: "`berth`", column: "of the way", target: 70, unit: "%", more: true},
	{name: "the same, blur: processor time more", page: "stragglers", after: "**The paper's figures**", row: "12 | Gaussian blur", column: "`berth` here", target: 5, unit: "%"},
	{name: "planting: runs that crashed", page: "planting", after: "<!-- safety:begin -->", row: "runs that crashed", column: "", target: 0},
}

// value is what a page says of a figure.
type value struct {
	text     string // the cell as printed
	number   float64
	measured string // the line on where it was measured
}

// read returns the value of a figure, or false if the page does not have it.
func (f figure) read(dir string) (v value, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, f.page+".md"))
	if err != nil {
		return value{}, false
	}
	return f.find(string(text))
}

// find looks for the figure in a page.
func (f figure) find(text string) (worst value, ok bool) {
	for v := range f.cells(text) {
		if v.number, ok = f.number(v.text); !ok || f.until == "" {
			return v, ok
		}
		if worst.text == "" || f.relative(v.number) > f.relative(worst.number) {
			worst = v
		}
	}
	return worst, worst.text != ""
}

// cells returns what is in the rows of the figure after the heading of its column, or in the lines that have the text if it has
// no column. Empty first cells repeat those of the row above.
func (f figure) cells(text string) iter.Seq[value] {
	return func(yield func(value) bool) {
		at, column, name, begun := "", -1, "", f.after == ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			begun = begun || strings.Contains(line, f.after)
			if begun && f.until != "" && strings.Contains(line, f.until) {
				return
			}
			if strings.HasPrefix(line, "Measured 20") {
				at = line
			}
			if !strings.HasPrefix(line, "|") {
				column = -1
				if _, rest, found := strings.Cut(line, f.row); begun && found && f.column == "" {
					rest, _, _ = strings.Cut(rest, ", ") // the next clause tells another figure
					rest, _, _ = strings.Cut(rest, "; ")
					if !yield(value{text: strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(rest, "."), " is")), measured: at}) {
						return
					}
				}
				continue
			}
			cells := split(line)
			switch {
			case column < 0:
				column = slices.IndexFunc(cells, func(c string) bool { return strings.Contains(c, f.column) && (f.column != "" || c == "") })
				if f.column == "" && column >= 0 {
					column = len(cells) - 1
				}
				if column < 0 {
					column = len(cells) // this table does not have it
				}
				continue
			case cells[0] != "":
				name = cells[0]
			}
			if begun && column < len(cells) && matches(f.row, append([]string{name}, cells[1:]...)) && !yield(value{text: cells[column], measured: at}) {
				return
			}
		}
	}
}

// matches reports whether the parts of a key, with | between, are parts of the cells in this order.
func matches(key string, cells []string) bool {
	parts := strings.Split(key, " | ")
	for i, part := range parts {
		if i >= len(cells) || !strings.Contains(cells[i], part) {
			return false
		}
	}
	return true
}

// split returns the cells of a row; a vertical line after a backslash is a part of its cell.
func split(line string) []string {
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
	}
	return cells
}

var digits = regexp.MustCompile(`[-−+]?\d[\d,]*(\.\d+)?`)

// number returns the first number of a text that has the unit of the figure, or else the first one.
func (f figure) number(text string) (float64, bool) {
	if f.unit != "" {
		if with := regexp.MustCompile(digits.String() + " " + regexp.QuoteMeta(f.unit) + `(\W|$)`).FindString(text); with != "" {
			text = with
		}
	}
	word := digits.FindString(text)
	x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(word), 64)
	return x, err == nil
}

// met reports whether a number meets the target.
func (f figure) met(x float64) bool {
	if f.more {
		return x >= f.target
	}
	return x <= f.target
}

// relative returns how far a number is from the target, in the same direction for all figures: up to 1 meets it.
func (f figure) relative(x float64) float64 {
	switch {
	case f.more:
		return f.target / max(x, 0)
	case f.target == 0:
		return 1 + math.Min(x, 1)
	}
	return x / f.target
}

// wanted writes the target.
func (f figure) wanted() string {
	sign := "≤"
	if f.more {
		sign = "≥"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", sign, strconv.FormatFloat(f.target, 'f', -1, 64), f.unit))
}
