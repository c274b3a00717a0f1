package rent

import (
	"math"
	"slices"

	"berth/internal/core/plan/front"
)

// State is a run and its measurements so far.
type State struct {
	Now      float64
	Every    float64 // seconds until the next decision
	Deadline float64 // 0: none
	Budget   float64 // of machines and data for the whole run; 0: none
	Spent    float64 // on machines that were given back, and on moved data
	Waiting  int     // tasks that have not begun
	Bag      front.Bag
	Types    []front.Type // with the expected time of a task (Mean)
	Chosen   []int        // machines of each type in the chosen configuration; nil: lost ones are not replaced without a deadline
	Machines []Machine
}

// Machine is a rented machine.
type Machine struct {
	ID      string
	Type    int     // in State.Types
	Rented  float64 // start of its payment
	Up      bool    // it is ready for tasks; false: it boots
	Running int     // tasks that run there
}

// Advice is what to do with the machines.
type Advice struct {
	Rent     []int    // further machines of each type; nil: none
	Return   []string // machines to give back before their next unit is paid
	Reason   string   // a sentence; empty without an action
	Makespan float64  // predicted makespan of the whole run with this advice; +Inf without a machine
	Cost     float64  // likewise
}

// known is the number of measured tasks that weigh as much as the planned time.
const known = 5

// Mean returns the expected time of a task, from the planned time and the mean of count measured ones, both in
// seconds. The planned time weighs as much as five tasks.
func Mean(planned, measured float64, count int) float64 {
	if count == 0 {
		return planned
	}
	n := float64(count)
	return (known*planned + n*measured) / (known + n)
}

// paidUntil returns the cost of a machine that is given back at a time.
func (s *State) paidUntil(m Machine, at float64) float64 { return s.Types[m.Type].Bill(at - m.Rented) }

// bootSeconds returns for how many seconds a machine is expected to boot still. One that should be ready already is
// expected to take as long again.
func (s *State) bootSeconds(m Machine) float64 {
	boot := s.Types[m.Type].Boot
	if m.Up {
		return 0
	}
	if left := m.Rented + boot - s.Now; left > 0 {
		return left
	}
	return boot
}

// renews returns the additional cost of the machine if it is kept until the next decision.
func (s *State) renews(m Machine) float64 {
	return s.paidUntil(m, s.Now+s.Every) - s.paidUntil(m, s.Now)
}

// movedPrice returns the price of moving the data of that many tasks.
func (s *State) movedPrice(tasks int) float64 {
	return float64(tasks) * s.Bag.Bytes * s.Bag.Transfer
}

// committed returns the cost of the run if it ends at the next decision, with all machines kept until then and the
// data of all tasks moved. This must never exceed the budget.
func (s *State) committed(machines []Machine, more []int) float64 {
	return s.total(machines, more, s.Now+s.Every, 0)
}

// release takes a machine out of those that are kept. What it costs until now is spent.
func (s *State) release(kept []Machine, at int) []Machine {
	s.Spent += s.paidUntil(kept[at], s.Now)
	return slices.Delete(kept, at, at+1)
}

// affordable reports whether a cost is within the budget.
func (s *State) affordable(cost float64) bool {
	return s.Budget == 0 || cost <= s.Budget*(1+1e-12)
}

// running returns how many tasks run on the machines.
func running(machines []Machine) (n int) {
	for _, m := range machines {
		n += m.Running
	}
	return n
}

// outlook is the prediction for the rest of a run: end, 90 % quantile of the end, cost.
type outlook struct{ finish, up, cost float64 }

// never is the outlook of a run without a machine for its remaining tasks.
var never = outlook{math.Inf(1), math.Inf(1), math.Inf(1)}
