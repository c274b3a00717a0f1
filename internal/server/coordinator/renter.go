package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan/front"
	"berth/internal/core/plan/rent"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/report"
)

// rentEvery is how often the plan of a bag on rented machines is looked at again.
const rentEvery = 30 * time.Second

// renting is an allocation of rented machines whose plan is looked at again while its bags run.
type renting struct {
	request job.AllocRequest
	watch   *rent.Watch
	said    string // the last advice
}

// rentEvery returns the time between two looks; tests look more often.
func (s *Server) rentEvery() time.Duration {
	return min(cmp.Or(s.opts.AssessEvery, rentEvery), rentEvery)
}

// noteRented takes in a record, of rented machines. Those without prices are left as they are: nothing is known of what they cost.
func (s *Server) noteRented(r event.Record) {
	switch r := r.(type) {
	case event.AllocRequested:
		m := r.Request.Remote.Rent.Machines
		if len(m) > 0 && !slices.ContainsFunc(m, func(k job.Rented) bool { return k.Price == 0 }) {
			s.renting[r.Alloc] = &renting{request: r.Request, watch: rent.NewWatch(job.PhaseFetch, job.PhaseCompute, job.PhaseStore)}
		}
	case event.AllocEnded:
		delete(s.renting, r.Alloc)
	case event.AttemptStarted, event.AttemptEnded:
		for id, x := range s.renting {
			x.watch.Observe(r, func(n job.NodeID) int { return x.kind(id, n) })
		}
	}
}

// kind returns the type of a node's machine, −1 for a node of another allocation.
func (x *renting) kind(id job.AllocID, n job.NodeID) int {
	_, text, _ := strings.Cut(string(n), "/")
	rank, err := strconv.Atoi(text)
	if err != nil || id.Node(rank) != n {
		return -1
	}
	return x.request.Remote.Rent.Wanted(rank)
}

// reviewRented has done what is advised of all rented machines on which bags run. It runs in the loop.
func (s *Server) reviewRented() {
	for _, id := range slices.Sorted(maps.Keys(s.renting)) {
		x := s.renting[id]
		d, rents := s.backends.driver(x.request.On).(driver.Renter)
		bags, need := s.bagsOn(x.request)
		if !rents || len(bags) == 0 {
			continue
		}
		hired, gone := d.Machines(id)
		state, known := x.state(bags, need, hired, gone, s.round.at, wallNow())
		if !known {
			continue
		}
		advice := rent.Decide(state)
		if advice.Reason != "" && advice.Reason != x.said {
			s.log.Info("rented machines are looked at again", "alloc", id, "rent", advice.Rent, "return", advice.Return, "why", advice.Reason, "finish_s", advice.Makespan, "cost", advice.Cost)
		}
		x.said = advice.Reason
		s.carryOut(id, x, advice)
	}
}

// carryOut has the driver rent and give back, beside the loop.
func (s *Server) carryOut(id job.AllocID, x *renting, a rent.Advice) {
	if a.Rent == nil && len(a.Return) == 0 {
		return
	}
	s.backends.call(x.request.On, func(_ context.Context, d driver.Driver) {
		r := d.(driver.Renter)
		for kind, n := range a.Rent {
			if n > 0 {
				r.Rent(id, kind, n)
			}
		}
		for _, node := range a.Return {
			r.GiveBack(id, job.NodeID(node), a.Reason)
		}
	})
}

// bagsOn returns the jobs that run on allocations like this one, and what the largest of their tasks take; nil where one of them is no bag.
func (s *Server) bagsOn(r job.AllocRequest) (bags []step.JobStatus, need job.Resources) {
	shape := job.ShapeOf(r)
	for _, j := range s.engine.Jobs() {
		switch {
		case j.State.Final() || job.ShapeOf(j.Alloc) != shape:
		case j.Kind != job.Bag:
			return nil, need
		default:
			bags = append(bags, j)
			n := s.jobs[j.ID].Spec.Bag.Need
			if need.CPUs = max(need.CPUs, n.CPUs); n.Vector().GPU > need.Vector().GPU {
				need.GPUs, need.GPUShare = n.GPUs, n.GPUShare
			}
		}
	}
	return bags, need
}

// state returns what the bags have come to, unless nothing is known of how long tasks take on machines that are up. Times are counted from the first bag's submission.
func (x *renting) state(bags []step.JobStatus, need job.Resources, hired []driver.RentedMachine, gone float64, now, wall job.Time) (rent.State, bool) {
	asked := x.request.Remote.Rent
	begin := bags[0].Submitted
	s := rent.State{Now: now.Sub(begin).Seconds(), Every: rentEvery.Seconds(), Budget: asked.Budget, Deadline: asked.Deadline.Seconds(), Spent: gone, Bag: front.Bag{Spread: x.watch.Spread()}}
	for _, j := range bags {
		s.Waiting += j.Tasks.Total - j.Tasks.Running - j.Tasks.Done - j.Tasks.Failed
	}
	for i, m := range asked.Machines {
		t := front.Type{Name: m.Name, Price: m.Price, Unit: max(m.Unit, 1), Minimum: m.Minimum, Boot: m.Boot, Task: x.watch.Task(i, 0), Slots: max(1, m.Has.Slots(need)), Limit: m.Count + m.More}
		if t.Task == 0 { // none has run there
			t.Task, t.Limit = 1, 0
		}
		s.Types, s.Chosen = append(s.Types, t), append(s.Chosen, min(m.Count, t.Limit))
	}
	for _, h := range hired {
		if s.Types[h.Kind].Limit == 0 {
			return s, false
		}
		s.Machines = append(s.Machines, rent.Machine{ID: string(h.Node), Type: h.Kind, Rented: s.Now - wall.Sub(h.Since).Seconds(), Up: h.Up, Running: x.watch.Running(h.Node)})
	}
	return s, true
}

// rentedFor returns what a job that has just ended came to on rented machines, nil where it had none. Where jobs share them each is told what
// all cost by then.
func (s *Server) rentedFor(l *live) *report.Rented {
	j, known := s.engine.Job(l.run.ID)
	for id, x := range s.renting {
		d, rents := s.backends.driver(x.request.On).(driver.Renter)
		if !known || !rents || job.ShapeOf(x.request) != job.ShapeOf(j.Alloc) {
			continue
		}
		hired, cost := d.Machines(id)
		asked := &x.request.Remote.Rent
		for _, h := range hired {
			m := &asked.Machines[h.Kind]
			t := front.Type{Price: m.Price, Unit: max(m.Unit, 1), Minimum: m.Minimum}
			cost += t.Bill(wallNow().Sub(h.Since).Seconds())
		}
		came := job.Forecast{Cost: cost, Makespan: s.round.at.Sub(j.Submitted).Seconds()}
		chosen := &l.Plan.Alloc.Remote.Rent
		if chosen.Server > 0 && came.Makespan > 0 {
			came.ServerUse = x.watch.Moved() / (chosen.Server * came.Makespan)
		}
		return &report.Rented{Came: came, Predicted: chosen.Predicted}
	}
	return nil
}
