package scenario

import (
	"fmt"
	"math"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/sim"
)

// defaultWays are the adaptors of a scenario that names none: the paper's baseline and its
// algorithm, berth for each job alone, and berth for all jobs of a user together, without and with
// yielding of allocations when their own job has ended.
func defaultWays() []Way {
	return []Way{
		{"naive", sim.Adaptor{Way: sim.Naive}},
		{"paper", sim.Adaptor{Way: sim.Paper}},
		{"berth", sim.Adaptor{Way: sim.Berth}},
		{"shared", sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest}},
		{"yield", sim.Adaptor{Way: sim.Berth, Shared: true, Order: sched.Shortest, Yield: true}},
	}
}

func (s *Scenario) readWays(root *tomlfile.Table) {
	tables := root.List("adaptor")
	if len(tables) == 0 {
		s.Ways = defaultWays()
		if s.cloud != nil {
			s.Ways = []Way{{string(sim.Rented), sim.Adaptor{Way: sim.Rented}}}
		}
	}
	for _, t := range tables {
		way := sim.Way(t.Word("way", string(sim.Berth), string(sim.Paper), string(sim.Naive), string(sim.Rented)))
		a := sim.Adaptor{
			Way: way, Shared: t.Flag("shared", false), Order: sched.Order(t.Word("order", string(sched.FIFO), string(sched.Shortest))),
			Yield:   t.Flag("yield", false),
			Unknown: t.Flag("unknown", false), Runs: int(t.Count("runs", 1, math.MaxInt16, 0)), Fewest: t.Flag("fewest", false), Largest: t.Flag("largest", false),
			Request: job.Request{MaxAllocs: int(t.Count("max_allocs", 1, math.MaxInt16, 0)), NoScout: !t.Flag("scout", true), Courtesy: t.Number("courtesy", 0, job.MaxCourtesy, 0)},
		}
		readRented(t, &a)
		if w := t.Word("wall_time", "auto", job.WallUpper, job.WallMax); w != "auto" {
			a.Request.WallTime = w
		}
		name := t.Text("name", string(way))
		t.Done()
		s.fits(t, a)
		for _, other := range s.Ways {
			if other.Name == name {
				t.Bad("name", fmt.Sprintf("there are two adaptors called %q", name), "write another name")
			}
		}
		s.Ways = append(s.Ways, Way{name, a})
	}
}

// fits reports keys that have no effect under an adaptor's way.
func (s *Scenario) fits(t *tomlfile.Table, a sim.Adaptor) {
	only := func(way sim.Way, keys ...string) {
		for _, key := range keys {
			if t.Has(key) && a.Way != way {
				t.Bad(key, fmt.Sprintf("%s has no effect with way %q", key, a.Way), fmt.Sprintf("leave it out, or write way = %q", way))
			}
		}
	}
	only(sim.Rented, "deadline", "budget", "replan")
	only(sim.Berth, "max_allocs", "scout", "wall_time", "shared", "order", "yield", "largest")
	if a.Way == sim.Berth {
		if a.Order == sched.Shortest && !a.Shared {
			t.Bad("order", "order has an effect only on jobs that share allocations", "write shared = true as well")
		}
		if a.Yield && !a.Shared {
			t.Bad("yield", "only jobs that share allocations can yield them", "write shared = true as well")
		}
		if a.Fewest {
			t.Bad("fewest", `fewest has no effect with way "berth", which always uses the fewest nodes`, `leave it out, or write way = "paper"`)
		}
	}
	if a.Way == sim.Rented && s.cloud == nil {
		t.Bad("way", "there are no machines to rent", "add a [cloud] table")
	}
	if a.Way == sim.Rented && a.Unknown {
		t.Bad("unknown", "the choice of machines needs the durations of tasks", "leave it out")
	}
	if a.Way == sim.Paper && a.Unknown {
		t.Bad("unknown", "the paper's algorithm needs the durations of tasks", `leave it out, or write way = "berth"`)
	}
}
