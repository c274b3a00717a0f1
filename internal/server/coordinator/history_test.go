package coordinator

import (
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/history"
	"berth/internal/server/report"
)

// TestBesideQueue: what goes into history of the queue, for one machine and for a batch system.
func TestBesideQueue(t *testing.T) {
	x := func(f float64) *float64 { return &f }
	request := func(nodes int, d time.Duration) job.AllocRequest { return job.AllocRequest{Nodes: nodes, Time: d} }
	view := report.JobView{WaitS: x(12), TurnaroundS: x(99), AllocsTotal: 3, PlansTotal: 2}
	for name, c := range map[string]struct {
		plan plan.Plan
		view report.JobView
		want history.Run
	}{
		"one machine": {
			plan.Plan{Alloc: request(1, 0), Predicted: &plan.Prediction{Median: 5}}, report.JobView{WaitS: x(1), PlansTotal: 1},
			history.Run{Median: x(5), Wait: x(1), AskedNodes: 1, Plans: 1},
		},
		"a queue, no profile": {
			plan.Plan{Alloc: request(2, time.Minute), Outlook: &plan.Outlook{}}, view,
			history.Run{WaitPredicted: x(0), Wait: x(12), Turnaround: x(99), AskedNodes: 2, AskedTime: 60, Allocs: 3, Plans: 2},
		},
		"several slots": {
			plan.Plan{
				Alloc: request(2, time.Minute), Followup: job.Followup{More: []job.AllocRequest{request(3, time.Hour), request(4, time.Minute)}},
				Outlook: &plan.Outlook{Expectation: plan.Expectation{Wait: 7, Start: 7, Turnaround: 80}},
			}, view,
			history.Run{WaitPredicted: x(7), TurnaroundPredicted: x(80), Wait: x(12), Turnaround: x(99), AskedNodes: 9, AskedTime: 3600, Allocs: 3, Plans: 2},
		},
		"one of them unlimited": {
			plan.Plan{Alloc: request(2, time.Minute), Followup: job.Followup{More: []job.AllocRequest{request(3, 0), request(4, time.Minute)}}}, report.JobView{},
			history.Run{AskedNodes: 9},
		},
	} {
		var r history.Run
		besideQueue(&r, c.plan, c.view)
		if !reflect.DeepEqual(r, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, r, c.want)
		}
	}
}
