package evaluate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/replicate"
)

// columnOf is a column of the printed table.
type columnOf struct {
	head    string
	measure Measure
	under   string // the adaptor with which it compares; empty: the column shows the mean
	percent bool
}

// row is the cells of one adaptor under one load.
type row struct {
	key   at
	cells []*Cell
}

// Text prints the report: a line with half-widths for each load and adaptor, and below it the
// paper's figures.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.title + "\n")
	for _, l := range r.Workload {
		b.WriteString("  " + l + "\n")
	}
	fmt.Fprintf(&b, "  %s; seed %d\n", r.cluster(), r.Seed)
	rows := r.rows()
	for len(rows) > 0 { // a table for each parameter
		n := slices.IndexFunc(rows, func(row row) bool { return row.key.parameter != rows[0].key.parameter })
		if n < 0 {
			n = len(rows)
		}
		b.WriteString("\n")
		r.table(&b, rows[:n])
		rows = rows[n:]
	}
	r.legend(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes the rows of one parameter.
func (r *Report) table(b *strings.Builder, rows []row) {
	columns := r.columns(rows)
	grid := [][]string{r.head(rows[0].key.parameter, columns)}
	for i, row := range rows {
		last, key := row.key, row.key
		if i > 0 {
			last = rows[i-1].key
		}
		if last.adaptor = key.adaptor; last != key {
			grid = append(grid, nil)
		}
		grid = append(grid, r.line(row, columns))
		if p := r.paperLine(row, columns); p != nil {
			grid = append(grid, p)
		}
	}
	replicate.WriteGrid(b, grid, len(r.lineHead(&rows[0])))
}

func (r *Report) cluster() string {
	return fmt.Sprintf("%d nodes, %s", r.Nodes, r.Policy)
}

// rows groups the cells by load and adaptor, in their order.
func (r *Report) rows() []row {
	var rows []row
	for i := range r.Cells {
		c := &r.Cells[i]
		key := c.at()
		key.jobs, key.measure = "", ""
		n := slices.IndexFunc(rows, func(o row) bool { return o.key == key })
		if n < 0 {
			n = len(rows)
			rows = append(rows, row{key: key})
		}
		rows[n].cells = append(rows[n].cells, c)
	}
	return rows
}

// columns returns the columns for which some row has a value.
func (r *Report) columns(rows []row) []columnOf {
	all := []columnOf{
		{head: "utilization %", measure: Measure{Utilization, AllJobs}, percent: true},
		{head: "all jobs s", measure: Measure{Turnaround, AllJobs}},
		{head: "HPC jobs s", measure: Measure{Turnaround, HPCJobs}},
		{head: "HPC % below paper's", measure: Measure{Turnaround, HPCJobs}, under: PaperCase, percent: true},
		{head: "MR jobs s", measure: Measure{Turnaround, MRJobs}},
	}
	if r.Experiment == "fig3" {
		all = []columnOf{{head: "turnaround s", measure: Measure{Turnaround, ""}}}
	}
	last := all[len(all)-1].measure
	lost := Measure{LostWork, MRJobs}
	if r.Experiment == "fig3" {
		lost.Jobs = ""
	}
	all = append(all,
		columnOf{head: "% below naive", measure: last, under: NaiveCase, percent: true},
		columnOf{head: "% below paper's", measure: last, under: PaperCase, percent: true},
		columnOf{head: "lost work %", measure: lost, percent: true},
		columnOf{head: "failed", measure: Measure{Failed, MRJobs}})
	return slices.DeleteFunc(all, func(c columnOf) bool {
		return !slices.ContainsFunc(rows, func(row row) bool {
			cell := row.cell(c.measure)
			if cell == nil || (c.measure.Name == Failed || c.measure == Measure{LostWork, MRJobs}) && cell.Mean == 0 {
				return false
			}
			return c.under == "" || cell.under(c.under) != nil
		})
	})
}

// cell returns a row's cell of a measure; if the measure names no jobs, that of the jobs whose turnaround is wanted.
func (row *row) cell(m Measure) *Cell {
	for _, c := range row.cells {
		if c.Measure == m.Name && (c.Jobs == m.Jobs || m.Jobs == "" && (c.Wanted || m.Name == LostWork && c.Jobs != MRJobs)) {
			return c
		}
	}
	return nil
}

// maxTimes reports whether the queue's maximum differs between rows.
func (r *Report) maxTimes() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.MaxTime != r.Cells[0].MaxTime })
}

func (r *Report) head(parameter string, columns []columnOf) []string {
	line := []string{"jobs"}
	if parameter != "" {
		line = append(line, parameterHead(parameter))
	}
	if r.maxTimes() {
		line = append(line, "max. time")
	}
	line = append(line, "adaptor")
	for _, c := range columns {
		line = append(line, c.head)
	}
	return append(line, "runs")
}

func parameterHead(parameter string) string {
	switch parameter {
	case HPCInterarrival:
		return "HPC every s"
	case MRInterarrival:
		return "MR every s"
	default:
		return parameter
	}
}

func (r *Report) lineHead(row *row) []string {
	line := []string{row.key.load}
	if row.key.parameter != "" {
		line = append(line, strconv.FormatFloat(row.key.value, 'f', -1, 64))
	}
	if r.maxTimes() {
		line = append(line, maxTimeText(row))
	}
	return append(line, row.key.adaptor)
}

// maxTimeText formats the queue's maximum. It is empty for HPC jobs, to which the maximum does not
// apply.
func maxTimeText(row *row) string {
	switch {
	case row.key.adaptor == "":
		return ""
	case row.key.maxTime == 0:
		return "none"
	}
	return job.FormatDuration(time.Duration(row.key.maxTime * float64(time.Second)))
}

// line returns our figures.
func (r *Report) line(row row, columns []columnOf) []string {
	line := r.lineHead(&row)
	for _, c := range columns {
		text := ""
		cell := row.cell(c.measure)
		switch {
		case cell == nil:
		case c.under == "":
			text = estimateText(cell.Mean, cell.HalfWidth, c.percent)
			if cell.Wanted && !cell.Reached {
				text += "*"
			}
		default:
			if u := cell.under(c.under); u != nil {
				text = estimateText(u.Reduction, u.HalfWidth, true)
			}
		}
		line = append(line, text)
	}
	runs := 0
	for _, c := range row.cells {
		runs = max(runs, c.Replications)
	}
	return append(line, strconv.Itoa(runs))
}

// paperLine returns the paper's figures, or nil if there are none.
func (r *Report) paperLine(row row, columns []columnOf) []string {
	line := make([]string, len(r.lineHead(&row)))
	line[len(line)-1] = "  (in the paper)"
	some := false
	for _, c := range columns {
		text := ""
		if v, ok := r.paperValue(&row, c); ok {
			text, some = estimateText(v, nil, c.percent), true
		}
		line = append(line, text)
	}
	if !some {
		return nil
	}
	return append(line, "")
}

func (r *Report) paperValue(row *row, c columnOf) (float64, bool) {
	cell := row.cell(c.measure)
	if cell == nil || cell.Paper == nil {
		return 0, false
	}
	if c.under == "" {
		return *cell.Paper, true
	}
	if cell.under(c.under) == nil {
		return 0, false
	}
	key := cell.at()
	key.adaptor = c.under
	if base := r.cell(key); base != nil && base.Paper != nil {
		return 1 - *cell.Paper / *base.Paper, true
	}
	return 0, false
}

// estimateText formats a mean with its half-width if it has one: "6783 ±312".
func estimateText(v float64, half *float64, percent bool) string {
	digits := 0
	if percent {
		v, digits = 100*v, 1
	} else if math.Abs(v) < 100 {
		digits = 1
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if half == nil || *half == 0 {
		return text
	}
	h := *half
	if percent {
		h *= 100
	}
	return text + " ±" + strconv.FormatFloat(h, 'f', digits, 64)
}

// legend explains the names and signs.
func (r *Report) legend(b *strings.Builder) {
	b.WriteString("\n")
	for _, c := range r.Cases {
		fmt.Fprintf(b, "%-9s %s\n", c.Name, c.Label)
	}
	fmt.Fprintf(b, "Times are mean turnarounds in seconds, ± half the width of the %g %% confidence interval; lower is better.\n"+
		"%% below naive or the paper's: for the same jobs, run by run; higher is better. Wanted: within %g %% of the mean", 100*r.Confidence, 100*r.Precision)
	unreached := slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Wanted && !c.Reached })
	if unreached {
		b.WriteString("; * not reached within the allowed number of runs")
	}
	b.WriteString(".\n")
	if slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Measure == LostWork && c.Mean > 0 }) {
		b.WriteString("Lost work: the core-seconds of attempts that were not done, of all that were worked; lower is better.\n")
	}
}
