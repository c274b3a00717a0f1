package coordinator

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan/rent"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// TestRentingState: what is known of a run on rented machines becomes what advice is asked for, and none is asked for as long as no task
// is done on a type of which there are machines.
func TestRentingState(t *testing.T) {
	second := job.Time(time.Second)
	asked := job.Rent{Deadline: time.Hour, Budget: 5, Machines: []job.Rented{
		{Name: "a", Count: 2, More: 3, Price: 1, Unit: 1, Boot: 60, Has: job.Resources{CPUs: 4}}, {Name: "b", Count: 1, Price: 2, Unit: 1, Has: job.Resources{CPUs: 1}}}}
	s := &Server{renting: make(map[job.AllocID]*renting)}
	s.noteRented(event.AllocRequested{Alloc: "a1", Request: job.AllocRequest{Nodes: 3, Remote: job.Remote{Rent: asked}}})
	s.noteRented(event.AllocRequested{Alloc: "a2", Request: job.AllocRequest{Nodes: 1}})
	unpriced := asked
	unpriced.Machines = []job.Rented{{Name: "c", Count: 1}}
	s.noteRented(event.AllocRequested{Alloc: "a3", Request: job.AllocRequest{Nodes: 1, Remote: job.Remote{Rent: unpriced}}})
	x := s.renting["a1"]
	if len(s.renting) != 1 || x == nil {
		t.Fatalf("%v", s.renting)
	}
	for node, want := range map[job.NodeID]int{"a1/0": 0, "a1/1": 0, "a1/2": 1, "a1/3": 0, "a1/5": 0, "a1/6": -1, "a9/0": -1} {
		if got := x.kind("a1", node); got != want {
			t.Errorf("%s is of type %d, want %d", node, got, want)
		}
	}
	bags := []step.JobStatus{{Submitted: 100 * second, Tasks: step.Tally{Total: 20, Running: 3, Done: 1, Failed: 1}}}
	hired := []driver.RentedMachine{{Node: "a1/0", Since: 5010 * second, Up: true}, {Node: "a1/3", Since: 5050 * second}}
	now, wall := 200*second, 5100*second
	if _, known := x.state(bags, job.Resources{CPUs: 2}, hired, 0.5, now, wall); known {
		t.Error("advice is asked for before any task is done")
	}
	for i, node := range []job.NodeID{"a1/0", "a1/0", "a9/0"} {
		s.noteRented(event.AttemptStarted{Attempt: job.Attempt{Job: "bag-1", Task: i, N: 1}, Node: node})
	}
	s.noteRented(event.AttemptEnded{Attempt: job.Attempt{Job: "bag-1", Task: 0, N: 1}, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseFetch, End: 2 * second}, {Phase: job.PhaseCompute, Start: 2 * second, End: 12 * second}}})
	state, known := x.state(bags, job.Resources{CPUs: 2}, hired, 0.5, now, wall)
	want := []rent.Machine{{ID: "a1/0", Rented: 10, Up: true, Running: 1}, {ID: "a1/3", Rented: 50}}
	if !known || state.Now != 100 || state.Waiting != 15 || state.Deadline != 3600 || state.Budget != 5 || state.Spent != 0.5 || len(state.Machines) != 2 || state.Machines[0] != want[0] || state.Machines[1] != want[1] {
		t.Errorf("%+v", state)
	}
	if a, b := state.Types[0], state.Types[1]; a.Task != 12 || a.Slots != 2 || a.Limit != 5 || a.Boot != 60 || b.Limit != 0 {
		t.Errorf("%+v", state.Types)
	}
	s.noteRented(event.AllocEnded{Alloc: "a1"})
	if len(s.renting) != 0 {
		t.Errorf("%v", s.renting)
	}
}
