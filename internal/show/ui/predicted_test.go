package ui

import (
	"testing"

	"berth/internal/core/plan"
	"berth/internal/server/report"
)

// TestStartByHistory: a start that the history of the queue predicts is shown with its range and the number of jobs, beside what came.
func TestStartByHistory(t *testing.T) {
	came := 130.0
	v := report.JobView{WaitS: &came, Expected: &plan.Expectation{Wait: 100, Start: 105}, PredictedStart: &plan.Start{Median: 55, Low: 25, High: 595, Draws: 50, Jobs: 1234}}
	want := "2m10s, predicted 1m (30s to 10m in four of five cases), by the run times of 1,234 jobs in this queue"
	if got := startText(v); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.PredictedStart.Starts = 21
	if got, want := startText(v), want+", and your last 21 starts"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.PredictedStart = nil
	if got, want := startText(v), "2m10s, predicted 1m45s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
