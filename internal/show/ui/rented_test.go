package ui

import (
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestRentedText: actual values stand before predicted ones, as far as either is known.
func TestRentedText(t *testing.T) {
	came := job.Forecast{Cost: 1.25, Makespan: 600}
	used := came
	used.ServerUse = 0.5
	for want, r := range map[string]*report.Rented{
		"":                          nil,
		"cost 1.25, done after 10m": {Came: came},
		"cost 1.25, done after 10m, 50 % of the data server used":                                                  {Came: used},
		"cost 1.25 (predicted 1.00), done after 10m (predicted 9m), 50 % of the data server used (predicted 60 %)": {Came: used, Predicted: &job.Forecast{Cost: 1, Makespan: 540, ServerUse: 0.6}},
		"cost 1.25 (predicted 1.00), done after 10m (predicted 9m)":                                                {Came: came, Predicted: &job.Forecast{Cost: 1, Makespan: 540, ServerUse: 0.6}},
	} {
		if got := rentedText(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
