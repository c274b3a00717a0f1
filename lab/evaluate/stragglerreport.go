package evaluate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/predict"
	"berth/internal/simulate/replicate"
)

// StragglerReport is the result of a StragglerStudy.
type StragglerReport struct {
	Rows         []StragglerRow `json:"rows"`
	Place        string         `json:"place"`
	Seed         uint64         `json:"seed"`
	Replications int            `json:"replications"`
	Confidence   float64        `json:"confidence"`
}

// StragglerRow is the result of a rule on a job: means over replications, with half-widths of their
// confidence intervals (null for a single replication).
type StragglerRow struct {
	Job   string `json:"job"`
	Tasks int    `json:"tasks"`
	Rule  string `json:"rule"`
	// MeanCompletion and WorstCompletion are from the submission to the last task's end, in seconds;
	// lower is better.
	MeanCompletion  float64  `json:"mean_completion_s"`
	WorstCompletion float64  `json:"worst_completion_s"`
	HalfWidth       *float64 `json:"half_width_s"` // of the mean
	// ExtraCPU is the processor time of all attempts, divided by that under the rule nothing, less
	// 1.
	ExtraCPU   float64 `json:"extra_cpu"`
	Duplicates float64 `json:"duplicates"` // attempts that began while another attempt of their task ran, per run
	Wasted     float64 `json:"wasted"`     // duplicates that did not end first, per run
	Restarts   float64 `json:"restarts"`   // attempts that were killed and started again, per run
	// UnderNothing is the fraction by which the mean completion is below that under the rule
	// nothing, with its half-width.
	UnderNothing     *float64 `json:"under_nothing,omitempty"`
	UnderNothingHalf *float64 `json:"under_nothing_half_width,omitempty"`
	// Way is the part of the way from the mean completion under the rule nothing to that without slow nodes; higher is
	// better, and 1 means that slow nodes cost nothing. It is nil if slow nodes cost nothing anyway.
	Way *float64 `json:"way_to_no_slow_node,omitempty"`
	// WorstRatio is the highest ratio of the completion to that under the rule nothing in the same
	// run.
	WorstRatio float64 `json:"worst_to_nothing"`
	// EndMedian is the median error of the ends that were expected of running tasks when half of their time was over, over all runs, as a part
	// of that time, and EndNear the fraction of tasks whose error was at most a tenth; nil for rules that expect no ends.
	EndMedian *float64 `json:"end_median_error,omitempty"`
	EndNear   *float64 `json:"end_near_share,omitempty"`
	// Clear is the mean completion without slow nodes, in seconds. No rule can be far below it.
	Clear float64 `json:"without_slow_nodes_s"`
}

// stragglerRow aggregates the runs of one job under rule k.
func stragglerRow(of []stragglerRun, k int) (row StragglerRow) {
	column := func(what func(*stragglerRun) float64) []float64 {
		values := make([]float64, len(of))
		for i := range of {
			values[i] = what(&of[i])
		}
		return values
	}
	mean := func(digits int, what func(*stragglerRun) float64) float64 {
		return replicate.Round(replicate.Mean(column(what)).Mean, digits)
	}
	completion := column(func(r *stragglerRun) float64 { return r.rules[k].completion })
	e := replicate.Mean(completion)
	row.MeanCompletion, row.HalfWidth = replicate.Round(e.Mean, secondDigits), e.HalfWidth(secondDigits)
	for i := range of {
		row.WorstCompletion = max(row.WorstCompletion, replicate.Round(completion[i], secondDigits))
		row.WorstRatio = max(row.WorstRatio, replicate.Round(completion[i]/of[i].nothing.completion, shareDigits))
	}
	nothing := replicate.Mean(column(func(r *stragglerRun) float64 { return r.nothing.completion })).Mean
	clear := replicate.Mean(column(func(r *stragglerRun) float64 { return r.clear.completion })).Mean
	if nothing > clear {
		way := replicate.Round((nothing-e.Mean)/(nothing-clear), shareDigits)
		row.Way = &way
	}
	row.ExtraCPU = mean(shareDigits, func(r *stragglerRun) float64 { return r.rules[k].cpu/r.nothing.cpu - 1 })
	row.Duplicates = mean(2, func(r *stragglerRun) float64 { return r.rules[k].duplicates })
	row.Wasted = mean(2, func(r *stragglerRun) float64 { return r.rules[k].wasted })
	row.Restarts = mean(2, func(r *stragglerRun) float64 { return r.rules[k].restarts })
	row.ends(of, k)
	row.Clear = mean(secondDigits, func(r *stragglerRun) float64 { return r.clear.completion })
	if u := replicate.Reduction(completion, column(func(r *stragglerRun) float64 { return r.nothing.completion }), replicate.Mean); !math.IsNaN(u.Mean) {
		share := replicate.Round(u.Mean, shareDigits)
		row.UnderNothing, row.UnderNothingHalf = &share, u.HalfWidth(shareDigits)
	}
	return row
}

// ends sums up the errors of the expected ends under rule k.
func (r *StragglerRow) ends(of []stragglerRun, k int) {
	var all predict.Ends
	for i := range of {
		all.Merge(of[i].rules[k].ends)
	}
	if len(all) > 0 {
		median, near := all.MedianAbs(), all.Near(10)
		r.EndMedian, r.EndNear = &median, &near
	}
}

// cells returns the figures of a row.
func (r *StragglerRow) cells() []string {
	under := ""
	if r.UnderNothing != nil {
		under = estimateText(*r.UnderNothing, r.UnderNothingHalf, true)
	}
	way := ""
	if r.Way != nil {
		way = strconv.FormatFloat(100**r.Way, 'f', 0, 64)
	}
	end, near := "", ""
	if r.EndMedian != nil {
		end, near = strconv.FormatFloat(100**r.EndMedian, 'f', 0, 64), strconv.FormatFloat(100**r.EndNear, 'f', 0, 64)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	return []string{r.Rule, estimateText(r.MeanCompletion, r.HalfWidth, false), under, way, estimateText(r.WorstCompletion, nil, false), strconv.FormatFloat(r.WorstRatio, 'f', 2, 64),
		number(100 * r.ExtraCPU), number(r.Duplicates), number(r.Wasted), number(r.Restarts), end, near}
}

var stragglerHead = []string{"rule", "mean s", "% below nothing", "% of the way", "worst s", "worst / nothing", "extra CPU %", "duplicates", "wasted", "restarts", "end off %", "by 10 %"}

// job names the job of a row.
func (r *StragglerRow) job() string { return fmt.Sprintf("%s, %d tasks", r.Job, r.Tasks) }

// Text writes a line for each job and rule.
func (r *StragglerReport) Text(w io.Writer) error {
	grid := [][]string{append([]string{"job"}, stragglerHead...)}
	for i := range r.Rows {
		row := &r.Rows[i]
		name := row.job()
		switch {
		case i > 0 && r.Rows[i-1].job() == name:
			name = ""
		case i > 0:
			grid = append(grid, nil)
		}
		grid = append(grid, append([]string{name}, row.cells()...))
	}
	var b strings.Builder
	replicate.WriteGrid(&b, grid, 2)
	fmt.Fprintf(&b, "\nCluster %s; seed %d. Times are seconds from the submission to the last task's end, means of %d runs, ± half the width of the\n"+
		"%g %% confidence interval; lower is better. %% below nothing: higher is better. %% of the way:\n"+
		"of that from nothing to no slow node at all; higher is better. All rules have the same tasks and slow nodes. Worst: the\n"+
		"slowest run; worst / nothing: the highest ratio to the rule nothing in the same run. Extra CPU: processor time of all attempts\n"+
		"beyond that under nothing. Duplicates, wasted and restarts: per run. End off: median error of the end of a running task,\n"+
		"expected when half of its time was over, in %% of that time; by 10 %%: %% of the tasks off by that at most.\n", r.Place, r.Seed, r.Replications, 100*r.Confidence)
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the report as a Markdown table.
func (r *StragglerReport) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| job | " + strings.Join(stragglerHead, " | ") + " |\n|---|---|" + strings.Repeat("--:|", len(stragglerHead)-1) + "\n")
	for i := range r.Rows {
		row := &r.Rows[i]
		name := row.job()
		if i > 0 && r.Rows[i-1].job() == name {
			name = ""
		} else {
			name += fmt.Sprintf(" (%s s without slow nodes)", estimateText(row.Clear, nil, false))
		}
		cells := row.cells()
		cells[0] = "`" + cells[0] + "`"
		b.WriteString("| " + name + " | " + strings.Join(cells, " | ") + " |\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
