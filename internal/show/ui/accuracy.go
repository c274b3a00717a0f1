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
	t := newTable("APPLICATION", "TIME", "RUNS>", "MEAN ERROR>", "MEDIAN>", "BIAS>", "WITHIN>", "WORST>", "OF>", "IN RUN")
	scoreRows(t, "all", a.Score)
	for _, app := range a.Applications {
		scoreRows(t, fit(clean(app.App), 40), app.Score)
	}
	b.WriteString(t.String() + "\nMEAN ERROR, MEDIAN: of |actual − predicted|, lower is better; BIAS: mean of actual − predicted, + is later\nthan predicted; WITHIN: runs within the bounds; WORST: the largest difference, where OF was predicted\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// scoreRows adds a row for each predicted time.
func scoreRows(t *table, name string, s history.Score) {
	for _, row := range []struct {
		time string
		history.Errors
	}{{"start", s.Start}, {"run", s.Run}, {"turnaround", s.Turnaround}} {
		if row.Runs == 0 {
			continue
		}
		t.add(name, row.time, strconv.Itoa(row.Runs), seconds(row.MeanAbs), seconds(row.MedianAbs), signed(row.Mean),
			percent(row.Within), signed(row.Worst), seconds(row.WorstPred), string(row.WorstRun))
		name = ""
	}
}

// signed writes a difference of seconds with its sign.
func signed(s float64) string {
	if text := seconds(math.Abs(s)); s < 0 && text != "0s" {
		return "-" + text
	} else if s > 0 && text != "0s" {
		return "+" + text
	}
	return "0s"
}

// percent writes a share of 1 as "75 %".
func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 0, 64) + " %" }
