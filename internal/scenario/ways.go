package scenario

import (
	"fmt"
	"math"

	"berth/internal/job"
	"berth/internal/sched"
	"berth/internal/sim"
)

// defaultWays are compared where a scenario says nothing: the paper's baseline and its
// algorithm, what berth does for each job alone, and what it does for all jobs of a user.
func defaultWays() []Way {
	return []Way{
		{"naive", sim.Adaptor{Way: sim.Naive, Fast: true}},
		{"paper", sim.Adaptor{Way: sim.Paper, Fast: true}},
		{"berth", sim.Adaptor{Way: sim.Berth}},
		{"shared", sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest}},
	}
}

func (s *Scenario) readWays(root *table) {
	tables := root.list("adaptor")
	if len(tables) == 0 {
		s.Ways = defaultWays()
	}
	for _, t := range tables {
		way := sim.Way(t.word("way", string(sim.Berth), string(sim.Paper), string(sim.Naive)))
		a := sim.Adaptor{
			Way: way, Shared: t.flag("shared", false), Order: sched.Order(t.word("order", string(sched.FIFO), string(sched.Shortest))),
			Unknown: t.flag("unknown", false),
			Request: job.Request{MaxAllocs: int(t.count("max_allocs", 1, math.MaxInt16, 0)), NoScout: !t.flag("scout", true)},
		}
		a.Fast = way != sim.Berth || a.Request.MaxAllocs == 1
		if w := t.word("wall_time", "auto", job.WallUpper, job.WallMax); w != "auto" {
			a.Request.WallTime = w
		}
		name := t.text("name", string(way))
		t.done()
		s.fits(t, a)
		for _, other := range s.Ways {
			if other.Name == name {
				t.bad("name", fmt.Sprintf("there are two adaptors called %q", name), "write another name")
			}
		}
		s.Ways = append(s.Ways, Way{name, a})
	}
}

// fits reports keys that mean nothing to a way.
func (s *Scenario) fits(t *table, a sim.Adaptor) {
	if a.Way == sim.Berth {
		if a.Order == sched.Shortest && !a.Shared {
			t.bad("order", "an order is of jobs that share allocations", "write shared = true beside it")
		}
		return
	}
	if a.Way == sim.Paper && a.Unknown {
		t.bad("unknown", "the paper's algorithm needs to know how long tasks take", `leave it out, or write way = "berth"`)
	}
	for _, key := range []string{"max_allocs", "scout", "wall_time", "shared", "order"} {
		if t.has(key) {
			t.bad(key, fmt.Sprintf("%s means nothing to way %q", key, a.Way), `leave it out, or write way = "berth"`)
		}
	}
}
