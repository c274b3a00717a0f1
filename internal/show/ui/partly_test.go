package ui

import (
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestPartly: where only some of the failed tasks ran out of something, no line says that all of them want more.
func TestPartly(t *testing.T) {
	for _, tt := range []struct {
		ranOut, failed int
		all            bool
	}{{1, 4, false}, {4, 4, true}, {1, 1, true}, {0, 2, true}} { // 0: a coordinator of an older version does not say it
		v := report.JobView{Status: report.Status{ID: "bag-1", Kind: job.Bag, State: "failed", TasksTotal: 5, TasksDone: 1, TasksFailed: tt.failed},
			Fix: "berth resume bag-1 --failed --time-limit 2s..4s", FixTasks: tt.ranOut}
		for _, line := range []string{failedLine(v), strings.Join(Ending(v), "\n")} {
			all := strings.Contains(line, "give them more with") || strings.Contains(line, "can run again with more")
			if all != tt.all || strings.Contains(line, "1 of them ran out") == tt.all || !strings.Contains(line, v.Fix) {
				t.Errorf("%+v: %s", tt, line)
			}
		}
	}
}

// TestResumeThatCannotHelp: it is not advised beside the advice to submit the job again.
func TestResumeThatCannotHelp(t *testing.T) {
	v := report.JobView{Status: report.Status{ID: "mr-1", Kind: job.MapReduce, State: "failed", TasksTotal: 5, TasksDone: 5},
		Reason: "out/part-00000: was removed while the job ran; " + job.SubmitAgain}
	if line := failedLine(v); strings.Contains(line, "resume") || !strings.Contains(line, job.SubmitAgain) {
		t.Error(line)
	}
}
