package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
	"berth/internal/core/plan/rent"
	"berth/internal/core/step"
)

// Cloud is a provider of rented machines, for bags whose data lie on a data server that all machines
// share.
type Cloud struct {
	Types      []front.Type // Task is the time of a task in seconds on this type if it takes 1 s on a core of speed 1
	Bytes      float64      // that each task moves from and to the data server
	Server     float64      // the server's total rate in bytes/s; 0: no limit
	Transfer   float64      // price of moving a byte
	BootSpread float64      // standard deviation of boot times, as a fraction of their mean
}

// cloud is the driver of one job's coordinator that rents machines for the job. All machines are
// nodes of one allocation, also those that are rented while the job runs.
type cloud struct {
	*site
	c        *coordinator
	app      *app
	types    []front.Type // with the predicted task time of this job
	bag      front.Bag
	chosen   []int
	alloc    *grant // nil: there is no allocation
	machines []*rentedMachine
	count    int     // number of machines rented so far
	spent    float64 // cost of machines that are gone, and of data
	watch    *rent.Watch
	checking bool // the periodic check of the plan is scheduled
}

// rentedMachine is a machine that was rented for a job.
type rentedMachine struct {
	c      *cloud
	name   string
	rank   int
	kind   int
	rented job.Time
	worker *Worker // nil while the machine boots
	over   bool
}

func newCloud(c *coordinator, a *app) *cloud {
	return &cloud{site: newSite(c.w, c.handle, c.join), c: c, app: a, watch: rent.NewWatch(job.PhaseCompute)}
}

// request rents the chosen machines. It returns an error of class User if the budget is used up.
func (s *cloud) request(id job.AllocID, _ job.AllocRequest) error {
	if s.count > 0 && s.w.cfg.Adaptor.Budget > 0 && s.advise().Rent == nil {
		return job.ConfigError(siteName, "the budget is used up", "allow more")
	}
	s.alloc = &grant{site: s.site, id: id}
	if s.count > 0 && !s.w.cfg.Adaptor.Once {
		s.check()
	} else {
		for t, n := range s.chosen {
			s.rent(t, n)
		}
	}
	s.send(step.AllocUp{Alloc: id})
	if !s.checking {
		s.checking = true
		s.w.agenda.schedule(s.w.now.Add(checkEvery), tickRank, s.fire)
	}
	return nil
}

// release returns all machines to the provider.
func (s *cloud) release(id job.AllocID) {
	if s.alloc == nil || s.alloc.id != id {
		return
	}
	s.alloc = nil
	for _, m := range s.machines {
		m.end()
	}
	s.machines = nil
}

// rent rents n machines of a type. Each can be used once it has booted.
func (s *cloud) rent(kind, n int) {
	for range n {
		rng := rand.New(rand.NewPCG(s.w.cfg.Seed, cloudStream|uint64(s.app.index)<<32|uint64(s.count)))
		t := &s.types[kind]
		m := &rentedMachine{c: s, name: t.Name + "-" + strconv.Itoa(s.count), rank: s.count, kind: kind, rented: s.w.now}
		ready := s.w.now.Add(spread(rng, t.Boot, s.w.cfg.Cloud.BootSpread))
		s.count++
		s.machines = append(s.machines, m)
		s.w.agenda.schedule(ready, endRank, m.fire)
		if t.Interruptions > 0 {
			after := exponential(rng, time.Duration(float64(time.Hour)/t.Interruptions))
			s.w.agenda.schedule(ready.Add(after), faultRank, m.interrupt)
		}
	}
	s.app.out.Rented += n
}

// spread draws a time from a log-normal distribution with the given mean in seconds and relative
// standard deviation.
func spread(rng *rand.Rand, mean, spread float64) time.Duration {
	sigma := math.Sqrt(math.Log1p(spread * spread))
	return roundMilli(mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2) * 1e9)
}

// fire connects the machine's worker, which can run tasks from now on.
func (m *rentedMachine) fire() {
	if m.over || m.c.alloc == nil {
		return
	}
	m.worker = newWorker(m.c.alloc, m.rank, 0)
	m.worker.rentedMachine = m
	m.c.dial(m.worker)
}

// end gives the machine back.
func (m *rentedMachine) end() {
	if m.over {
		return
	}
	m.over = true
	cost := m.c.types[m.kind].Bill(m.c.w.now.Sub(m.rented).Seconds())
	m.c.spent += cost
	m.c.app.out.Cost += cost
	if m.worker != nil {
		m.worker.die()
	}
}

// lose removes a machine from the job and reports that to the coordinator.
func (s *cloud) lose(m *rentedMachine, why string) {
	s.machines = slices.DeleteFunc(s.machines, func(o *rentedMachine) bool { return o == m })
	m.end()
	if m.worker != nil {
		s.send(step.NodeDown{Node: m.worker.ID, Gone: true, Reason: why})
	}
}

// interrupt is the event in which the provider takes the machine away.
func (m *rentedMachine) interrupt() {
	if m.over {
		return
	}
	s := m.c
	s.lose(m, "its provider has taken it away")
	s.app.out.Interrupted++
	switch {
	case s.alloc == nil || s.app.over: // the job is over, or the engine asks anew as no machine is left
	case s.w.cfg.Adaptor.Once:
		s.rent(m.kind, 1)
	default:
		s.check()
	}
}

// capacity is what workers there have.
func (m *rentedMachine) capacity() job.Resources {
	return job.Resources{CPUs: max(1, m.c.types[m.kind].Slots)}
}

// onType returns how long a task of duration d computes on the machine.
func (m *rentedMachine) onType(d time.Duration) time.Duration {
	return roundMilli(float64(d) * m.c.w.cfg.Cloud.Types[m.kind].Task)
}

// kindOf returns the type of a node's machine, −1 for one that is gone.
func (s *cloud) kindOf(id job.NodeID) int {
	for _, m := range s.machines {
		if m.worker != nil && m.worker.ID == id {
			return m.kind
		}
	}
	return -1
}

// noChoice returns a configuration error that asks for more time, money or machines.
func noChoice(where, what string) error {
	return job.ConfigError(where, what, "allow a later deadline, a larger budget or more machines")
}

// frontEpsilon is the epsilon of a front. It is coarse, because a simulation computes many fronts.
const frontEpsilon = 0.01

// choose returns the number of machines of each type: those of Adaptor.Machines, or a point of the front.
func (s *cloud) choose() ([]int, error) {
	a := &s.w.cfg.Adaptor
	if a.Machines != nil {
		return a.Machines, nil
	}
	m := front.NewModel(s.bag, s.types)
	set, _ := m.Search(frontEpsilon)
	i := set.Tipping()
	if a.Budget > 0 || a.Deadline > 0 {
		i = set.Within(a.Budget, a.Deadline.Seconds())
	}
	if i < 0 {
		return nil, noChoice(string(s.app.id), fmt.Sprintf("none of the %d choices of machines is within the budget and the deadline", len(set)))
	}
	return set[i].Counts, nil
}
