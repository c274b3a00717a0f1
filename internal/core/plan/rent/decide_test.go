package rent

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/plan/front"
)

// genState draws a run under way on up to ten machines of up to three types, which has not cost more than its budget so far.
func genState(t *rapid.T) State {
	f := func(low, up float64, name string) float64 { return rapid.Float64Range(low, up).Draw(t, name) }
	s := State{Now: f(0, 10_000, "now"), Every: f(1, 300, "every"), Waiting: rapid.IntRange(0, 2000).Draw(t, "waiting"),
		Bag: front.Bag{Bytes: f(0, 1e7, "bytes"), Server: f(1e6, 1e8, "server"), Spread: f(0, 1, "spread"), Transfer: rapid.SampledFrom([]float64{0, 1e-10}).Draw(t, "transfer")}}
	for range rapid.IntRange(1, 3).Draw(t, "types") {
		s.Types = append(s.Types, front.Type{Name: fmt.Sprint("t", len(s.Types)), Price: f(0.01, 10, "price"), Unit: rapid.SampledFrom([]float64{1, 60, 3600}).Draw(t, "unit"),
			Minimum: rapid.SampledFrom([]float64{0, 60}).Draw(t, "minimum"), Boot: f(0, 200, "boot"), Task: f(1, 200, "task"), Slots: rapid.IntRange(1, 4).Draw(t, "slots"), Limit: rapid.IntRange(0, 20).Draw(t, "limit")})
		s.Chosen = append(s.Chosen, rapid.IntRange(0, 5).Draw(t, "chosen"))
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "machines") {
		m := Machine{ID: fmt.Sprint("m", i), Type: rapid.IntRange(0, len(s.Types)-1).Draw(t, "type"), Rented: f(0, s.Now, "rented")}
		if m.Up = rapid.Bool().Draw(t, "up"); m.Up {
			m.Running = rapid.IntRange(0, s.Types[m.Type].Slots).Draw(t, "running")
		}
		s.Machines = append(s.Machines, m)
	}
	if rapid.Bool().Draw(t, "hasDeadline") {
		s.Deadline = s.Now + f(-100, 10_000, "deadline")
	}
	if rapid.Bool().Draw(t, "hasBudget") {
		s.Budget = s.spent(s.Machines) + f(0, 50, "budget")
	}
	return s
}

// spent returns what a run has cost when these machines are given back now.
func (s *State) spent(machines []Machine) float64 {
	sum := s.Spent
	for _, m := range machines {
		sum += s.paidUntil(m, s.Now)
	}
	return sum
}

// TestDecide: for any state of a run, the advice costs no more than the budget until the next decision, rents no more
// machines than there are, keeps a deadline that would be kept without it, and leaves no machine idle in the tail.
func TestDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genState(t)
		a := Decide(s)
		cost, kept, lost := s.Spent, []Machine{}, 0
		for _, m := range s.Machines {
			if slices.Contains(a.Return, m.ID) {
				cost += s.paidUntil(m, s.Now)
				lost += m.Running
				continue
			}
			kept = append(kept, m)
			cost += s.paidUntil(m, s.Now+s.Every)
		}
		if s.Budget > 0 && s.overdraws(a, cost) {
			t.Fatalf("it costs %g, the budget is %g: %+v", cost, s.Budget, a)
		}
		if len(kept)+len(a.Return) != len(s.Machines) || a.Rent != nil && len(a.Return) > 0 {
			t.Fatalf("%+v", a)
		}
		if (len(a.Return) > 0 || a.Rent != nil) && a.Reason == "" {
			t.Fatalf("no reason: %+v", a)
		}
		s.checkRent(t, a)
		before := s.predict(s.Machines, nil, 0)
		hard := strings.Contains(a.Reason, "does not pay for another")
		if s.Deadline > 0 && before.finish <= s.Deadline && !hard && a.Makespan > s.Deadline {
			t.Fatalf("all was done after %g, is after %g, the deadline is %g: %+v", before.finish, a.Makespan, s.Deadline, a)
		}
		if s.Deadline == 0 && !hard && a.Makespan > before.finish*(1+1e-6) {
			t.Fatalf("all was done after %g, is after %g: %+v", before.finish, a.Makespan, a)
		}
		if s.Waiting+lost == 0 && !hard {
			for _, m := range kept {
				if m.Running == 0 && s.renews(m) > 0 {
					t.Fatalf("%s is idle and kept: %+v", m.ID, a)
				}
			}
		}
	})
}

func (s *State) overdraws(a Advice, cost float64) bool {
	for i, n := range a.Rent {
		cost += float64(n) * s.Types[i].Bill(s.Every)
	}
	return cost > s.Budget*(1+1e-9)
}

// checkRent: machines of one type, within its limit, for tasks that wait, and only where the run would be late or the choice is not there.
func (s *State) checkRent(t *rapid.T, a Advice) {
	kinds := 0
	for i, n := range a.Rent {
		have := 0
		for _, m := range s.Machines {
			if m.Type == i {
				have++
			}
		}
		most := s.Types[i].Limit
		if s.Deadline == 0 {
			most = s.Chosen[i]
		}
		if n > 0 && (have+n > most || s.Waiting == 0) {
			t.Fatalf("%d more of type %d, there are %d of %d: %+v", n, i, have, most, a)
		}
		if n > 0 {
			kinds++
		}
	}
	if a.Rent != nil && kinds != 1 || s.Deadline > 0 && a.Rent != nil && s.predict(s.Machines, nil, 0).finish <= s.Deadline {
		t.Fatalf("%+v", a)
	}
}

// four is four machines that compute since the beginning, 100 s a task.
func four(unit float64) State {
	s := State{Now: 1000, Every: 60, Waiting: 40, Types: []front.Type{
		{Name: "slow", Price: 3.6, Unit: unit, Boot: 60, Task: 100, Slots: 1, Limit: 10},
		{Name: "fast", Price: 10.8, Unit: unit, Boot: 60, Task: 50, Slots: 1, Limit: 10},
	}}
	for i := range 4 {
		s.Machines = append(s.Machines, Machine{ID: fmt.Sprint("m", i), Up: true, Running: 1})
	}
	return s
}

func TestExamples(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*State)
		unit   float64
		rent   []int
		back   int
		reason string
	}{
		{"as planned", func(s *State) { s.Deadline = 2100 }, 1, nil, 0, ""},
		{"late", func(s *State) { s.Deadline = 1700 }, 1, []int{3, 0}, 0, "the deadline is 28m20s: with 3 more of slow"},
		{"late, and only fast ones are soon enough", func(s *State) { s.Deadline = 1300 }, 1, []int{0, 10}, 0, "10 more of fast"},
		{"late, and the budget is used up", func(s *State) { s.Deadline, s.Budget = 1500, 6 }, 1, nil, 0, "does not pay for all remaining tasks"},
		{"nothing is left of the budget", func(s *State) { s.Budget = 4 }, 1, nil, 4, "the budget of 4.00 does not pay for another 1m of 4 machines"},
		{"early, but the hour is paid", func(s *State) { s.Deadline, s.Waiting = 20_000, 4 }, 3600, nil, 0, ""},
		{"early, and the next hour begins", func(s *State) { s.Deadline, s.Waiting, s.Now = 20_000, 4, 3580 }, 3600, nil, 3, "without 3 machines"},
		{"early by the second: fewer machines cost as much", func(s *State) { s.Deadline = 20_000 }, 1, nil, 0, ""},
		{"the tail", func(s *State) { s.Waiting, s.Machines[1].Running, s.Machines[2].Running = 0, 0, 0 }, 1, nil, 2, "without 2 machines"},
		{"all is done", func(s *State) {
			s.Waiting = 0
			for i := range s.Machines {
				s.Machines[i].Running = 0
			}
		}, 1, nil, 4, ""},
		{"one of the choice is gone", func(s *State) { s.Machines, s.Chosen = s.Machines[1:], []int{4, 0} }, 1, []int{1, 0}, 0, "rented machines are gone"},
		{"all are gone", func(s *State) { s.Machines, s.Deadline = nil, 9000 }, 1, []int{1, 0}, 0, "would be done never"},
	} {
		s := four(tt.unit)
		tt.change(&s)
		a := Decide(s)
		if !slices.Equal(a.Rent, tt.rent) || len(a.Return) != tt.back || !strings.Contains(a.Reason, tt.reason) {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
}

// TestMean: what was planned gives way to what is measured.
func TestMean(t *testing.T) {
	if Mean(10, 0, 0) != 10 || Mean(10, 20, 5) != 15 || math.Abs(Mean(10, 20, 1000)-20) > 0.1 {
		t.Error(Mean(10, 0, 0), Mean(10, 20, 5), Mean(10, 20, 1000))
	}
}
