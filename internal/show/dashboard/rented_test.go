package dashboard

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/server/report"
	"berth/internal/show/ui"
)

// TestRented: of a job's machines the page shows those that are its own and what they cost so far; the provider is asked seldom, soon
// again after a failure, and not at all for jobs that rent none or are over.
func TestRented(t *testing.T) {
	asked, fails := 0, error(nil)
	d := documents{Source: Source{Machines: func(context.Context) (ui.Machines, error) {
		asked++
		return ui.Machines{Machines: []driver.MachineStatus{
			{ID: "i-1", Alloc: "a1", Cost: 1.5}, {ID: "i-2", Alloc: "a2", Job: "fit", Cost: 0.25}, {ID: "i-3", Alloc: "a1", Foreign: true, Cost: 9}, {ID: "i-4", Alloc: "a3", Cost: 9},
		}}, fails
	}}}
	rent := job.Rent{Budget: 5, Deadline: time.Hour, Machines: []job.Rented{{Name: "m1", Count: 2, Price: 0.13}}, Front: []job.Choice{{Cost: 2, Chosen: true}, {Cost: 3}}}
	running := report.JobView{Status: report.Status{Name: "fit", State: "running"}, Nodes: []report.NodeView{{Node: "a1/0"}}}
	for range 3 {
		v := d.rented(t.Context(), rent, running)
		if len(v.Machines) != 2 || v.Cost != 1.75 || v.Budget != 5 || v.Deadline != 3600 || v.Types[0] != (rentedType{"m1", 2, 0.13}) || len(v.Front) != 2 {
			t.Errorf("%+v", v)
		}
	}
	if asked != 1 {
		t.Errorf("the provider was asked %d times", asked)
	}
	over := running
	over.State = "done"
	if v := d.rented(t.Context(), rent, over); len(v.Types) != 1 || len(v.Machines) != 0 || asked != 1 {
		t.Errorf("a job that is over: %+v", v)
	}
	if v := d.rented(t.Context(), job.Rent{}, running); v != nil {
		t.Errorf("a job that rents nothing: %+v", v)
	}
	d.bills.at, fails = time.Time{}, errors.New("no answer")
	if v := d.rented(t.Context(), rent, running); v.Problem != "no answer" {
		t.Errorf("%+v", v)
	}
	d.bills.at, fails = d.bills.at.Add(-afterFail), nil // a failure is not kept for as long as an answer
	if v := d.rented(t.Context(), rent, running); v.Problem != "" || v.Cost != 1.75 {
		t.Errorf("after a failure: %+v", v)
	}
}
