package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"berth/internal/job"
	"berth/internal/plan/front"
	"berth/internal/plan/rent"
	"berth/internal/step"
)

// Cloud is a place where machines are rented, for bags whose data lie on a data server that all of them share.
type Cloud struct {
	Types      []front.Type // Task: seconds that a task takes there which takes a second on a core of speed 1
	Bytes      float64      // that each task moves from and to the data server
	Server     float64      // bytes/s that it serves together; 0: no limit
	Transfer   float64      // price of moving a byte
	BootSpread float64      // standard deviation of boot times over their mean, which is what the choice is made with
}

// cloud is the machines that are rented for a job, as its coordinator's driver. All are nodes of one allocation: those that are rented
// while the job runs as well.
type cloud struct {
	*site
	c        *coordinator
	app      *app
	types    []front.Type // with the time of this job's tasks, as far as is known
	bag      front.Bag
	chosen   []int
	alloc    *grant // nil: there is none
	machines []*hired
	count    int     // machines that were ever rented
	spent    float64 // on machines that are gone, and on data
	watch    *rent.Watch
	looks    bool // the plan is to be looked at again
}

// hired is a rented machine.
type hired struct {
	c      *cloud
	name   string
	rank   int
	kind   int
	rented job.Time
	worker *worker // nil: it boots
	over   bool
}

func newCloud(c *coordinator, a *app) *cloud {
	return &cloud{site: newSite(c.w, c.tell, c.join), c: c, app: a, watch: rent.NewWatch(job.PhaseCompute)}
}

// Request rents the machines of the choice. It is refused where the budget does not pay for them.
func (s *cloud) Request(_ context.Context, id job.AllocID, _ job.AllocRequest) error {
	if s.count > 0 && s.w.cfg.Adaptor.Budget > 0 && s.advise().Rent == nil {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: siteName, What: "the budget is used up", Do: "allow more"}
	}
	s.alloc = &grant{site: s.site, id: id}
	if s.count > 0 && !s.w.cfg.Adaptor.Once {
		s.look()
	} else {
		for t, n := range s.chosen {
			s.rent(t, n)
		}
	}
	s.say(step.AllocUp{Alloc: id})
	if !s.looks {
		s.looks = true
		s.w.agenda.note(s.w.now.Add(lookEvery), tickRank, s)
	}
	return nil
}

// Adopt takes up an allocation; one that is not there is asked for.
func (s *cloud) Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error {
	if s.alloc == nil {
		return s.Request(ctx, id, req)
	}
	return nil
}

// Release gives all machines back.
func (s *cloud) Release(_ context.Context, id job.AllocID) error {
	if s.alloc == nil || s.alloc.id != id {
		return nil
	}
	s.alloc = nil
	for _, m := range s.machines {
		m.end()
	}
	s.machines = nil
	return nil
}

// rent rents machines of a type: they are there when they have booted.
func (s *cloud) rent(kind, n int) {
	for range n {
		rng := rand.New(rand.NewPCG(s.w.cfg.Seed, cloudStream|uint64(s.app.index)<<32|uint64(s.count)))
		t := &s.types[kind]
		m := &hired{c: s, name: t.Name + "-" + strconv.Itoa(s.count), rank: s.count, kind: kind, rented: s.w.now}
		ready := s.w.now.Add(spread(rng, t.Boot, s.w.cfg.Cloud.BootSpread))
		s.count++
		s.machines = append(s.machines, m)
		s.w.agenda.note(ready, endRank, m)
		if t.Interruptions > 0 {
			after := exponential(rng, time.Duration(float64(time.Hour)/t.Interruptions))
			s.w.agenda.note(ready.Add(after), faultRank, interruption{m})
		}
	}
	s.app.out.Rented += n
}

// spread draws a time from a log-normal distribution of that mean in seconds.
func spread(rng *rand.Rand, mean, spread float64) time.Duration {
	sigma := math.Sqrt(math.Log1p(spread * spread))
	return roundMilli(mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2) * 1e9)
}

// happen has the machine take tasks from now on.
func (m *hired) happen() {
	if m.over || m.c.alloc == nil {
		return
	}
	m.worker = newWorker(m.c.alloc, m.rank, 0)
	m.worker.hired = m
	m.c.dial(m.worker)
}

// end gives the machine back.
func (m *hired) end() {
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

// lose takes a machine from the job, and tells its coordinator.
func (s *cloud) lose(m *hired, why string) {
	for i := range s.machines {
		if s.machines[i] == m {
			s.machines = append(s.machines[:i], s.machines[i+1:]...)
			break
		}
	}
	m.end()
	if m.worker != nil {
		s.say(step.NodeDown{Node: m.worker.id, Gone: true, Reason: why})
	}
}

// interruption is when the provider takes a machine away.
type interruption struct{ m *hired }

func (i interruption) happen() {
	m := i.m
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
		s.look()
	}
}

// capacity is what workers there have.
func (m *hired) capacity() job.Resources {
	return job.Resources{CPUs: max(1, m.c.types[m.kind].Slots)}
}

// takes returns how long a task computes on the machine.
func (m *hired) takes(d time.Duration) time.Duration {
	return roundMilli(float64(d) * m.c.w.cfg.Cloud.Types[m.kind].Task)
}

// kindOf returns the type of a node's machine, −1 for one that is gone.
func (s *cloud) kindOf(id job.NodeID) int {
	for _, m := range s.machines {
		if m.worker != nil && m.worker.id == id {
			return m.kind
		}
	}
	return -1
}

// noChoice says that no machines do what is asked for.
func noChoice(where, what string) error {
	return configError(where, what, "allow more time or money, or more machines")
}

// nearly is the epsilon of a front in simulations, which draw many.
const nearly = 0.01

// choose returns the machines for the job: those that it is told to use, or a point of the front.
func (s *cloud) choose() ([]int, error) {
	a := &s.w.cfg.Adaptor
	if a.Machines != nil {
		return a.Machines, nil
	}
	m := front.NewModel(s.bag, s.types)
	set, _ := m.Search(nearly)
	i := set.Tipping()
	if a.Budget > 0 || a.Deadline > 0 {
		i = set.Within(a.Budget, a.Deadline.Seconds())
	}
	if i < 0 {
		return nil, noChoice(string(s.app.id), fmt.Sprintf("of %d choices of machines none is within the budget and the deadline", len(set)))
	}
	return set[i].Counts, nil
}
