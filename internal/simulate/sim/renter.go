package sim

import (
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
	"berth/internal/core/plan/rent"
	"berth/internal/core/predict"
)

// checkEvery is the time between two checks of the plan of a job on rented machines.
const checkEvery = 30 * time.Second

// plan chooses the machines for a job and returns a plan with one allocation, whose nodes are the
// machines.
func (s *cloud) plan(a *app) (plan.Plan, error) {
	if err := s.expectTasks(); err != nil {
		return plan.Plan{}, err
	}
	var err error
	if s.chosen, err = s.choose(); err != nil {
		return plan.Plan{}, err
	}
	expected := front.NewModel(s.bag, s.types).Evaluate(s.chosen)
	a.out.Expected, a.out.ExpectedFor = expected.Makespan, expected.Cost
	n, largest := 0, 1
	for t, k := range s.chosen {
		if n += k; k > 0 {
			largest = max(largest, s.types[t].Slots)
		}
	}
	p := plan.Plan{At: s.w.now, App: predict.Application(a.spec), Kind: a.spec.Kind, Tasks: len(a.Maps),
		Alloc: job.AllocRequest{On: siteName, Nodes: n, PerNode: job.Resources{CPUs: largest}}}
	p.TaskMean = mean(a.Maps)
	return p, nil
}

// expectTasks predicts the task time on each type of machine from the profile.
func (s *cloud) expectTasks() error {
	if s.app.profile == nil {
		return job.ConfigError("adaptor", "the choice of machines needs a profile of the application", "clear Unknown")
	}
	time := s.app.profile.Measures.Get(predict.BagTask).Time
	c := s.w.cfg.Cloud
	s.bag = front.Bag{Tasks: len(s.app.Maps), Bytes: c.Bytes, Server: c.Server, Transfer: c.Transfer, Tail: true, Boot: true}
	if time.Count > 1 && time.Mean() > 0 {
		s.bag.Spread = time.StdDev() / time.Mean()
	}
	s.types = slices.Clone(c.Types)
	for i := range s.types {
		s.types[i].Task *= time.Mean()
	}
	return nil
}

// fire checks the plan and schedules the next check.
func (s *cloud) fire() {
	if s.app.over {
		s.checking = false
		return
	}
	s.w.agenda.schedule(s.w.now.Add(checkEvery), tickRank, s.fire)
	if s.alloc != nil && !s.w.cfg.Adaptor.Once {
		s.check()
	}
}

// check decides again which machines are needed, and rents or returns machines.
func (s *cloud) check() {
	a := s.advise()
	if s.w.advised != nil && a.Reason != "" {
		s.w.advised(a)
	}
	for t, n := range a.Rent {
		s.rent(t, n)
	}
	for _, m := range slices.Clone(s.machines) {
		if slices.Contains(a.Return, m.name) {
			s.lose(m, "it was returned: "+a.Reason)
		}
	}
}

// advise decides from the present state of the job which machines to rent and to return.
func (s *cloud) advise() rent.Advice {
	begin := Epoch + s.app.out.Submit
	at := func(t job.Time) float64 { return t.Sub(begin).Seconds() }
	state := rent.State{Now: at(s.w.now), Every: checkEvery.Seconds(), Deadline: s.w.cfg.Adaptor.Deadline.Seconds(), Budget: s.w.cfg.Adaptor.Budget,
		Spent: s.spent, Waiting: len(s.app.Maps), Bag: s.bag, Types: slices.Clone(s.types), Chosen: s.chosen}
	if j, ok := s.c.engine.Job(s.app.id); ok {
		state.Waiting = j.Tasks.Total - j.Tasks.Done - j.Tasks.Running - j.Tasks.Failed
	}
	for i := range state.Types {
		state.Types[i].Task = s.watch.Task(i, s.types[i].Task)
	}
	for _, m := range s.machines {
		one := rent.Machine{ID: m.name, Type: m.kind, Rented: at(m.rented), Up: m.worker != nil}
		if m.worker != nil {
			one.Running = s.watch.Running(m.worker.ID)
		}
		state.Machines = append(state.Machines, one)
	}
	return rent.Decide(state)
}
