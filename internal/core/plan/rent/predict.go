package rent

import (
	"math"

	"berth/internal/core/plan/front"
)

// group is a number of machines with the same prediction.
type group struct {
	kind  int     // index of the type
	busy  bool    // they compute
	ready float64 // seconds from now
	count int
}

// predict returns the outlook of the run on these machines and further ones of each type, rented now. lost is the
// number of tasks that have begun and have to run again. Machines without a task count only while tasks wait.
func (s *State) predict(machines []Machine, more []int, lost int) outlook {
	waiting := s.Waiting + lost
	groups := s.groups(machines, more, waiting)
	if len(groups) == 0 {
		if waiting > 0 {
			return never
		}
		return outlook{s.Now, s.Now, s.total(machines, more, s.Now, 0)}
	}
	bag := s.Bag
	bag.Tasks, bag.Tail, bag.Boot = waiting, true, true
	types, counts := make([]front.Type, len(groups)), make([]int, len(groups))
	for i, g := range groups {
		types[i], counts[i] = s.Types[g.kind], g.count
		types[i].Boot, types[i].Busy = g.ready, g.busy
	}
	p := front.NewModel(bag, types).Evaluate(counts)
	finish := s.Now + p.Makespan
	return outlook{finish, math.Max(finish, s.Now+p.Up), s.total(machines, more, finish, lost)}
}

// groups returns the machines that compute remaining tasks.
func (s *State) groups(machines []Machine, more []int, waiting int) (all []group) {
	add := func(g group) {
		for i := range all {
			if o := &all[i]; o.kind == g.kind && o.busy == g.busy && o.ready == g.ready {
				o.count += g.count
				return
			}
		}
		all = append(all, g)
	}
	for _, m := range machines {
		if waiting > 0 || m.Running > 0 {
			add(group{m.Type, m.Running > 0, s.bootSeconds(m), 1})
		}
	}
	for t, n := range more {
		if n > 0 && waiting > 0 {
			add(group{t, false, s.Types[t].Boot, n})
		}
	}
	return all
}

// total returns the cost of the whole run if it ends then.
func (s *State) total(machines []Machine, more []int, finish float64, lost int) float64 {
	sum := s.Spent + s.movedPrice(s.Waiting+lost)
	for _, m := range machines {
		sum += s.paidUntil(m, math.Max(finish, s.Now))
	}
	for t, n := range more {
		if n > 0 {
			sum += float64(n) * s.Types[t].Bill(finish-s.Now)
		}
	}
	return sum
}
