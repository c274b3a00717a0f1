package evaluate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Markdown writes the report as Markdown tables: first the schedulers, then the changed variants of
// the scheduler phases.
func (r *PhaseReport) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| workload | scheduler | mean completion, s | % below the first | makespan, s | cores, % | memory, % | disk, % | network, % | local maps, % | unfairness | energy, MJ |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	last, changed := "", false
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.changed() {
			changed = true
			continue
		}
		name := row.Workload
		if name == last {
			name = ""
		}
		last = row.Workload
		u := &row.Utilization
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, row.Scheduler,
			estimateText(row.MeanCompletion, row.HalfWidth, false), row.below(), estimateText(row.Makespan, row.MakespanHalf, false),
			percent(u.CPU), percent(u.Mem), percent(u.Disk), percent(u.Net), estimateText(row.Locality, row.LocalityHalf, true),
			pair(row.Unfairness, row.UnfairnessHalf, 2), pair(row.Energy/1e6, millionth(row.EnergyHalf), 3))
	}
	if changed {
		r.changes(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changes writes the variants of the scheduler phases, with completion / makespan for each workload.
func (r *PhaseReport) changes(b *strings.Builder) {
	var works, cases []string
	cells := map[string]string{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if len(works) == 0 || works[len(works)-1] != row.Workload {
			works = append(works, row.Workload)
		}
		if row.Scheduler != "phases" {
			continue
		}
		name := row.PhaseCase.String()
		if len(works) == 1 {
			cases = append(cases, name)
		}
		cells[name+"\n"+row.Workload] = estimateText(row.MeanCompletion, row.HalfWidth, false) + " / " + estimateText(row.Makespan, row.MakespanHalf, false) + " / " +
			strconv.FormatFloat(row.Unfairness, 'f', 2, 64)
	}
	b.WriteString("\nMean completion, s / makespan, s / unfairness:\n\n| | " + strings.Join(works, " | ") + " |\n|---" + strings.Repeat("|---", len(works)) + "|\n")
	for _, c := range cases {
		b.WriteString("| " + c)
		for _, w := range works {
			b.WriteString(" | " + cells[c+"\n"+w])
		}
		b.WriteString(" |\n")
	}
}

// changed reports whether a part of the scheduler is changed.
func (c PhaseCase) changed() bool { return c.Alpha != nil || c.Without != "" }

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 0, 64) }

// pair formats a figure with its half-width.
func pair(v float64, half *float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if half != nil {
		text += " ±" + strconv.FormatFloat(*half, 'f', digits, 64)
	}
	return text
}

func millionth(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := *v / 1e6
	return &m
}
