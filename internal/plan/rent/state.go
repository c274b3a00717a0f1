package rent

import (
	"math"

	"berth/internal/plan/front"
)

// State is a run under way, and what is measured of it so far.
type State struct {
	Now      float64
	Every    float64 // seconds until the plan is looked at next
	Deadline float64 // 0: none
	Budget   float64 // of machines and data for the whole run; 0: none
	Spent    float64 // on machines that are gone, and on data that was moved
	Waiting  int     // tasks that have not begun
	Bag      front.Bag
	Types    []front.Type // with the time that a task takes as far as is known (Mean)
	Chosen   []int        // machines of each type in the choice that is run; nil: those that are gone are not replaced without a deadline
	Machines []Machine
}

// Machine is a machine that is rented.
type Machine struct {
	ID      string
	Type    int     // in State.Types
	Rented  float64 // from when on it is paid
	Up      bool    // it is ready for tasks; false: it boots
	Running int     // tasks that run there
}

// Advice is what is to be done with the machines.
type Advice struct {
	Rent     []int    // further machines of each type; nil: none
	Return   []string // machines that are to be given back before their next unit is paid
	Reason   string   // a sentence; empty where nothing is to be done
	Makespan float64  // predicted of the whole run, when all is done as advised; +Inf without a machine
	Cost     float64  // likewise
}

// known is how many measured tasks count as much as what was planned.
const known = 5

// Mean returns how long a task is expected to take, by what was planned and the mean of so many measured ones, both in seconds.
// What was planned counts as much as five tasks.
func Mean(planned, measured float64, count int) float64 {
	if count == 0 {
		return planned
	}
	n := float64(count)
	return (known*planned + n*measured) / (known + n)
}

// paid returns what a machine costs that is given back at a time.
func (s *State) paid(m Machine, at float64) float64 { return s.Types[m.Type].Bill(at - m.Rented) }

// boots returns how many seconds a machine is expected to boot yet. One that should be up already is expected to take as long again.
func (s *State) boots(m Machine) float64 {
	boot := s.Types[m.Type].Boot
	if m.Up {
		return 0
	}
	if left := m.Rented + boot - s.Now; left > 0 {
		return left
	}
	return boot
}

// renews returns what the machine costs more if it is kept until the next look.
func (s *State) renews(m Machine) float64 { return s.paid(m, s.Now+s.Every) - s.paid(m, s.Now) }

// moved returns the price of the data of so many tasks.
func (s *State) moved(tasks int) float64 {
	return float64(tasks) * s.Bag.Bytes * s.Bag.Transfer
}

// committed returns what the run costs if all is over at the next look, or the machines go on until then and the data of all tasks
// are moved: more than this must never be above the budget.
func (s *State) committed(machines []Machine, more []int) float64 {
	sum := s.Spent + s.moved(s.Waiting)
	for _, m := range machines {
		sum += s.paid(m, s.Now+s.Every)
	}
	for t, n := range more {
		sum += float64(n) * s.Types[t].Bill(s.Every)
	}
	return sum
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

// outlook is what is predicted of the rest of a run.
type outlook struct{ finish, up, cost float64 }

// never is the outlook of a run that has no machine for what is left.
var never = outlook{math.Inf(1), math.Inf(1), math.Inf(1)}
