package ui

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/server/history"
)

// Accuracy writes how closely runs followed their predictions, in total and for each application. Its JSON form is
// the value itself.
func Accuracy(w io.Writer, a history.Accuracy) error {
	if len(a.Applications) == 0 {
		return put(w, "no run with a prediction has ended yet\n")
	}
	var b strings.Builder
	if a.Runs > 0 {
		fmt.Fprintf(&b, "%s with a predicted run time: %d within its bounds, %d shorter, %d longer\n", job.Count(a.Runs, "run"), a.Within, a.Below, a.Above)
		fmt.Fprintf(&b, "run time divided by its upper bound (1 or less is within): median %.2f, worst %.2f\n\n", a.MedianRatio, a.WorstRatio)
	}
	t := newTable("APPLICATION", "PREDICTED", "RUNS>", "MEAN ERROR>", "MEDIAN>", "BIAS>", "WITHIN>", "BY 10 %>", "WORST>", "OF>", "IN RUN")
	scoreRows(t, "all", a.Score)
	for _, app := range a.Applications {
		scoreRows(t, fit(clean(app.App), 40), app.Score)
	}
	b.WriteString(t.String() + bandFigure(a.Band) + "\nMEAN ERROR, MEDIAN: of |actual − predicted|, lower is better; BIAS: mean of actual − predicted, + is later\nthan predicted; WITHIN: runs within the bounds; BY 10 %: runs off by at most that; WORST: the largest difference,\nwhere OF was predicted; cost is that of rented machines; end is of a running task, expected when half of its time\nwas over, in parts of that time, and its RUNS are tasks\n")
	return put(w, b.String())
}

// scoreRows adds a row for each predicted time.
func scoreRows(t *table, name string, s history.Score) {
	for _, row := range []struct {
		time  string
		write func(float64) string
		history.Errors
	}{{"start", seconds, s.Start}, {"run", seconds, s.Run}, {"turnaround", seconds, s.Turnaround}, {"cost", money, s.Cost}} {
		if row.Runs == 0 {
			continue
		}
		t.add(name, row.time, strconv.Itoa(row.Runs), row.write(row.MeanAbs), row.write(row.MedianAbs), signed(row.write, row.Mean),
			percent(row.Within), percent(row.Near), signed(row.write, row.Worst), row.write(row.WorstPred), string(row.WorstRun))
		name = ""
	}
	if e := s.Ends; e.Tasks > 0 {
		t.add(name, "end", strconv.Itoa(e.Tasks), "", percent(e.MedianAbs), signed(percent, e.Mean), "", percent(e.Near), "", "", "")
	}
}

// bandFigure draws where starts fell beside the bands that were predicted for them; empty if there were none.
func bandFigure(b history.Band) string {
	if b.Starts == 0 {
		return ""
	}
	const width = 40 // of all starts
	text := "\nwhere " + job.Count(b.Starts, "start") + " fell beside the band of 80 % that was predicted; | is where a calibrated one has it\n"
	for _, part := range []struct {
		name       string
		share, aim float64
	}{{"before", b.Before, 0.1}, {"lower half", b.Lower, 0.4}, {"upper half", b.Upper, 0.4}, {"after", b.After, 0.1}} {
		bar := []rune(strings.Repeat("#", int(math.Round(part.share*width))) + strings.Repeat(" ", width))[:width]
		bar[int(part.aim*width)] = '|'
		text += fmt.Sprintf("  %-10s %5s %s\n", part.name, percent(part.share), strings.TrimRight(string(bar), " "))
	}
	return text
}

// signed writes a difference with its sign, as write writes it without one; what is written as nothing has none.
func signed(write func(float64) string, x float64) string {
	text := write(math.Abs(x))
	switch {
	case text == write(0):
	case x < 0:
		return "-" + text
	case x > 0:
		return "+" + text
	}
	return text
}

// money writes a cost.
func money(cost float64) string { return fmt.Sprintf("%.2f", cost) }

// percent writes a share of 1 as "75 %".
func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }
