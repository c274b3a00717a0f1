package rent

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/job"
)

const (
	worthTime = 0.01 // share of the time left by which further machines that cannot keep the deadline have to shorten it
	worthCost = 0.01 // share of what is still to be paid by which giving back a machine that computes has to lower it
)

// Decide says what is to be done with the machines of a run. In this order: what the budget does not allow until the next look is
// given back; further machines are rented where the bag is predicted to be late, or where machines of the choice are gone and there
// is no deadline; machines are given back that what is left cannot use, or that an early run does not need.
//
// Each look rents machines of one type: as many as are needed, at the lowest predicted cost. A run that is late by what is expected on
// average rents; machines that compute are given back only where 90 of 100 such runs would keep the deadline without them.
func Decide(s State) Advice {
	kept, gone := s.withinBudget()
	a := Advice{Return: gone}
	if len(gone) > 0 {
		a.Reason = fmt.Sprintf("the budget of %.2f does not pay for another %s of %s", s.Budget, span(s.Every), machines(len(gone)))
	}
	lost := running(s.Machines) - running(kept)
	s.Waiting += lost
	now := s.predict(kept, nil, 0)
	if len(gone) == 0 {
		if more, then, why := s.rent(kept, now); more != nil {
			return Advice{Rent: more, Reason: why, Makespan: then.finish, Cost: then.cost}
		}
	}
	less, then := s.giveBack(kept, now)
	if len(less) > 0 && a.Reason == "" {
		a.Reason = fmt.Sprintf("what is left is done as planned without %s", machines(len(less)))
	}
	a.Return = append(a.Return, less...)
	a.Makespan, a.Cost = then.finish, then.cost
	if a.Reason == "" && !s.affordable(then.cost) {
		a.Reason = fmt.Sprintf("the budget of %.2f does not pay for all that is left: machines are given back when it is used up", s.Budget)
	}
	return a
}

// withinBudget returns the machines that can be kept until the next look, and those that cannot: the dearest by what they do first.
func (s *State) withinBudget() (kept []Machine, gone []string) {
	kept = slices.Clone(s.Machines)
	for !s.affordable(s.committed(kept, nil)) {
		worst, at := 0.0, -1
		for i, m := range kept {
			t := &s.Types[m.Type]
			if dear := s.renews(m) * t.Task / float64(max(1, t.Slots)); dear > worst || at < 0 && s.renews(m) > 0 {
				worst, at = dear, i
			}
		}
		if at < 0 {
			break
		}
		gone = append(gone, kept[at].ID)
		s.Spent += s.paid(kept[at], s.Now)
		kept = slices.Delete(kept, at, at+1)
	}
	return kept, gone
}

// rent returns the further machines that are to be rented, nil for none.
func (s *State) rent(kept []Machine, now outlook) (best []int, then outlook, why string) {
	late := s.Deadline > 0 && now.finish > s.Deadline
	if s.Waiting == 0 || s.Deadline > 0 && !late {
		return nil, now, ""
	}
	least := math.MaxFloat64 // of a run that has no machine
	if !math.IsInf(now.finish, 1) {
		least = now.finish - worthTime*(now.finish-s.Now)
	}
	then = now
	for t := range s.Types {
		for _, n := range s.steps(t, kept) {
			more := make([]int, len(s.Types))
			more[t] = n
			o := s.predict(kept, more, 0)
			if !s.affordable(math.Max(o.cost, s.committed(kept, more))) || o.finish > math.Max(least, s.Deadline) {
				continue
			}
			if s.better(o, then) {
				best, then = more, o
			}
			if o.finish <= s.Deadline {
				break // more of them only cost more
			}
		}
	}
	if best == nil {
		return nil, now, ""
	}
	return best, then, s.whyRent(best, now, then, late)
}

// better reports whether an outlook is better than another: one in time before one that is late, of those in time the cheaper one, of
// those that are late the sooner one.
func (s *State) better(a, b outlook) bool {
	if inA, inB := a.finish <= s.Deadline, b.finish <= s.Deadline; inA || inB {
		return inA && (!inB || a.cost < b.cost)
	}
	return a.finish < b.finish-worthTime*(b.finish-s.Now) || math.IsInf(b.finish, 1) && !math.IsInf(a.finish, 1)
}

// steps returns the numbers of further machines of a type that are weighed: up to its limit with a deadline, else up to the choice.
func (s *State) steps(t int, kept []Machine) (ns []int) {
	most := s.Types[t].Limit
	if s.Deadline == 0 {
		if most = 0; t < len(s.Chosen) {
			most = s.Chosen[t]
		}
	}
	for _, m := range kept {
		if m.Type == t {
			most--
		}
	}
	most = min(most, s.Waiting)
	for n := 1; n < most; n += 1 + n/4 {
		ns = append(ns, n)
	}
	if most > 0 {
		ns = append(ns, most)
	}
	return ns
}

func (s *State) whyRent(more []int, now, then outlook, late bool) string {
	what := ""
	for t, n := range more {
		if n > 0 {
			what = fmt.Sprintf("%d more of %s", n, s.Types[t].Name)
		}
	}
	if !late {
		return fmt.Sprintf("machines of the choice are gone: with %s all is done after %s", what, span(then.finish))
	}
	after := "never"
	if !math.IsInf(now.finish, 1) {
		after = "after " + span(now.finish)
	}
	return fmt.Sprintf("all would be done %s, the deadline is %s: with %s it is done after %s", after, span(s.Deadline), what, span(then.finish))
}

// giveBack returns the machines that are to be given back, one of a group after the other for as long as that costs less.
func (s *State) giveBack(kept []Machine, now outlook) (gone []string, then outlook) {
	then = now
	for {
		at, o, lost := s.needless(kept, then)
		if at < 0 {
			return gone, then
		}
		gone = append(gone, kept[at].ID)
		s.Spent += s.paid(kept[at], s.Now)
		s.Waiting += lost
		kept = slices.Delete(kept, at, at+1)
		then = o
	}
}

// needless returns the machine whose next unit saves most if it is not paid, −1 for none, with the outlook without it and how many of
// its tasks have to be done anew.
func (s *State) needless(kept []Machine, now outlook) (at int, then outlook, lost int) {
	at = -1
	seen := map[group]bool{}
	for i, m := range kept {
		like := group{m.Type, m.Running > 0, s.boots(m), int(s.renews(m) * 1e6)}
		if s.renews(m) <= 0 || seen[like] {
			continue
		}
		seen[like] = true
		spent := s.Spent
		s.Spent += s.paid(m, s.Now)
		o := s.predict(slices.Delete(slices.Clone(kept), i, i+1), nil, m.Running)
		s.Spent = spent
		if s.spares(m, now, o) && (at < 0 || o.cost < then.cost) {
			at, then, lost = i, o, m.Running
		}
	}
	return at, then, lost
}

// spares reports whether a run does without a machine: at a lower cost, and in time if it was, or no later than with the machine.
func (s *State) spares(m Machine, with, without outlook) bool {
	if math.IsInf(without.finish, 1) {
		return false
	}
	inTime := s.Deadline > 0 && without.up <= s.Deadline
	if m.Running == 0 && s.Waiting == 0 {
		return true
	}
	if m.Running > 0 {
		return inTime && without.cost < with.cost-worthCost*(with.cost-s.Spent)
	}
	return without.cost < with.cost && (inTime || without.finish <= with.finish*(1+1e-9))
}

// span tells seconds for people.
func span(seconds float64) string {
	return job.FormatDuration(time.Duration(seconds) * time.Second)
}

func machines(n int) string { return fmt.Sprintf("%d %s", n, job.Plural(n, "machine")) }
