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
		_, err := io.WriteString(w, "no run with a prediction has ended yet\n")
		return err
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
	b.WriteString(t.String() + "\nMEAN ERROR, MEDIAN: of |actual − predicted|, lower is better; BIAS: mean of actual − predicted, + is later\nthan predicted; WITHIN: runs within the bounds; BY 10 %: runs off by at most that; WORST: the largest difference,\nwhere OF was predicted; cost is that of rented machines\n")
	_, err := io.WriteString(w, b.String())
	return err
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
func money(cost float64) string { return strconv.FormatFloat(cost, 'f', 2, 64) }

// percent writes a share of 1 as "75 %".
func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 0, 64) + " %" }
