package rent

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
)

const (
	worthTime = 0.01 // least fraction of the remaining time that further machines must save when the deadline cannot be kept
	worthCost = 0.01 // least fraction of the remaining cost that giving back a busy machine must save
)

// Decide returns what to do with the machines of a run, in this order: it gives back the machines that the budget
// does not pay until the next decision; it rents further machines where the bag is predicted to be late, or where
// machines of the choice are gone and there is no deadline; it gives back machines that the remaining tasks cannot
// use, or that an early run does not need.
//
// Each decision rents machines of one type: as many as are needed, at the lowest predicted cost. A run rents when its
// expected end is late; it gives back busy machines only where 90 % of such runs would keep the deadline without
// them.
func Decide(s State) Advice {
	kept, gone := s.withinBudget()
	a := Advice{Return: gone}
	if len(gone) > 0 {
		a.Reason = fmt.Sprintf("the budget of %s does not pay for another %s of %s", job.Money(s.Budget), span(s.Every), machines(len(gone)))
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
		a.Reason = fmt.Sprintf("the remaining tasks end as planned without %s", machines(len(less)))
	}
	a.Return = append(a.Return, less...)
	a.Makespan, a.Cost = then.finish, then.cost
	if a.Reason == "" && !s.affordable(then.cost) {
		a.Reason = "the budget of " + job.Money(s.Budget) + " does not pay for all remaining tasks: machines are given back when it is used up"
	}
	return a
}

// withinBudget returns the machines that can be kept until the next decision, and the ids of the others: those with
// the highest price per task rate first.
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
		kept = s.release(kept, at)
	}
	return kept, gone
}

// rent returns the further machines to rent, nil for none, with the prediction and the reason.
func (s *State) rent(kept []Machine, now outlook) (best []int, then outlook, why string) {
	late := s.Deadline > 0 && now.finish > s.Deadline
	if s.Waiting == 0 || s.Deadline > 0 && !late {
		return nil, now, ""
	}
	least := math.MaxFloat64 // for a run without a machine
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

// better compares two outlooks: one in time is better than a late one; of two in time the cheaper one is better, of
// two late ones the sooner one.
func (s *State) better(a, b outlook) bool {
	if inA, inB := a.finish <= s.Deadline, b.finish <= s.Deadline; inA || inB {
		return inA && (!inB || a.cost < b.cost)
	}
	return a.finish < b.finish-worthTime*(b.finish-s.Now) || math.IsInf(b.finish, 1) && !math.IsInf(a.finish, 1)
}

// steps returns the numbers of further machines of a type that are tried: up to its limit with a deadline, else up to
// the choice.
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
		return fmt.Sprintf("rented machines are gone: with %s all tasks are done after %s", what, span(then.finish))
	}
	after := "never"
	if !math.IsInf(now.finish, 1) {
		after = "after " + span(now.finish)
	}
	return fmt.Sprintf("all tasks would be done %s, but the deadline is %s: with %s they are done after %s", after, span(s.Deadline), what, span(then.finish))
}

// giveBack returns the machines to give back, one after the other for as long as that lowers the cost.
func (s *State) giveBack(kept []Machine, now outlook) (gone []string, then outlook) {
	then = now
	for {
		at, o, lost := s.costliest(kept, then)
		if at < 0 {
			return gone, then
		}
		gone = append(gone, kept[at].ID)
		s.Waiting += lost
		kept = s.release(kept, at)
		then = o
	}
}

// costliest returns the machine that saves most if its next unit is not paid, −1 for none, with the outlook without
// it and the number of its tasks that have to run again.
func (s *State) costliest(kept []Machine, now outlook) (at int, then outlook, lost int) {
	at = -1
	seen := map[group]bool{}
	for i, m := range kept {
		like := group{m.Type, m.Running > 0, s.bootSeconds(m), int(s.renews(m) * 1e6)}
		if s.renews(m) <= 0 || seen[like] {
			continue
		}
		seen[like] = true
		spent := s.Spent
		s.Spent += s.paidUntil(m, s.Now)
		o := s.predict(slices.Delete(slices.Clone(kept), i, i+1), nil, m.Running)
		s.Spent = spent
		if s.spares(m, now, o) && (at < 0 || o.cost < then.cost) {
			at, then, lost = i, o, m.Running
		}
	}
	return at, then, lost
}

// spares reports whether a run needs a machine no longer: without it the run costs less, and it ends in time if it
// did with it, or no later.
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

// span formats seconds for people.
func span(seconds float64) string {
	return job.FormatDuration(time.Duration(seconds) * time.Second)
}

func machines(n int) string { return job.Count(n, "machine") }
