package front

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"berth/internal/core/predict/rented"
	"berth/test/support/rentedsim"
)

// system is a random bag on random machines, with its simulation.
type system struct {
	bag    Bag
	types  []Type
	counts []int
	sim    rentedsim.System
}

func newSystem(rng *rand.Rand) system {
	s := system{bag: Bag{Tasks: 200 + rng.IntN(1300), Bytes: 10, Server: 10 * math.Exp(3*rng.Float64()-1), Spread: 0.2 + 0.6*rng.Float64(), Tail: true}}
	s.sim = rentedsim.System{Server: s.bag.serverTime(), Spread: s.bag.Spread, Tasks: s.bag.Tasks, Rng: rng}
	for range 1 + rng.IntN(3) {
		one := Type{Price: 1, Unit: 1, Task: 2 * math.Exp(2.3*rng.Float64()), Rate: 10 * (0.3 + rng.Float64()), Slots: 1, Limit: 20}
		n := 1 + rng.IntN(10)
		s.types, s.counts = append(s.types, one), append(s.counts, n)
		for range n {
			s.sim.Compute = append(s.sim.Compute, one.Task)
			s.sim.Transfer = append(s.sim.Transfer, math.Max(s.bag.Bytes/one.Rate, s.sim.Server))
		}
	}
	return s
}

// paper returns the makespan by the paper's aggregation: mean rates (eqs. 5 to 8 read as sums), N/X.
func (s *system) paper() float64 {
	n := rented.Network{Machines: len(s.sim.Compute), Server: s.sim.Server}
	compute, transfer := 0.0, 0.0
	for k, c := range s.sim.Compute {
		compute += 1 / c
		transfer += 1 / s.sim.Transfer[k]
	}
	n.Compute, n.Transfer = float64(n.Machines)/compute, float64(n.Machines)/transfer
	return float64(s.bag.Tasks) / n.Solve().Throughput
}

// TestModelAgainstSimulation: the makespan of random systems of up to 30 machines of three types, each the mean of forty
// simulated runs, is predicted to 3 % for nearly all. BERTH_SYSTEMS says how many systems, 50 by default.
func TestModelAgainstSimulation(t *testing.T) {
	const runs, bound, leastWithin = 40, 0.03, 95
	systems := 50
	if n, err := strconv.Atoi(os.Getenv("BERTH_SYSTEMS")); err == nil && n > 0 {
		systems = n
	}
	rng := rand.New(rand.NewPCG(2026, 1))
	var ours, papers []float64
	for range systems {
		s := newSystem(rng)
		sim := 0.0
		for range runs {
			sim += s.sim.Makespan() / runs
		}
		ours = append(ours, math.Abs(NewModel(s.bag, s.types).Evaluate(s.counts).Makespan/sim-1))
		papers = append(papers, math.Abs(s.paper()/sim-1))
	}
	slices.Sort(ours)
	slices.Sort(papers)
	for _, q := range []float64{0.5, 0.9, 0.99, 1} {
		at := int(math.Ceil(q*float64(systems))) - 1
		t.Logf("%3.0f %% of %d systems are off by at most %4.1f %%, by the paper's formula by %4.1f %%", 100*q, systems, 100*ours[at], 100*papers[at])
	}
	within, _ := slices.BinarySearch(ours, bound)
	paperWithin, _ := slices.BinarySearch(papers, bound)
	t.Logf("off by at most 3 %%: %d, the paper's formula %d", within, paperWithin)
	if within < leastWithin*systems/100 {
		t.Errorf("only %d of %d are off by at most 3 %%", within, systems)
	}
}

// TestFewTasksASlot: a phase with few tasks a slot, as reduces often are, is predicted too long rather than too short: by 15 % at most for half of
// the systems with 0.7 tasks a slot or more, and less the more there are.
func TestFewTasksASlot(t *testing.T) {
	const systems, runs = 30, 30
	rng := rand.New(rand.NewPCG(7, 1))
	for _, tt := range []struct{ tasks, low, up float64 }{{0.1, -0.1, 0.1}, {0.3, -0.1, 0.1}, {0.7, -0.05, 0.2}, {1, -0.05, 0.15}, {1.5, -0.05, 0.15}, {2.5, -0.02, 0.1}, {10, -0.02, 0.03}} {
		var off []float64
		for range systems {
			s := newSystem(rng)
			s.bag.Tasks = max(1, int(tt.tasks*float64(len(s.sim.Compute))))
			s.sim.Tasks = s.bag.Tasks
			sim := 0.0
			for range runs {
				sim += s.sim.Makespan() / runs
			}
			m := NewModel(s.bag, s.types)
			m.follows = true
			off = append(off, m.Evaluate(s.counts).Makespan/sim-1)
		}
		slices.Sort(off)
		median := off[systems/2]
		t.Logf("%4.1f tasks a slot: too long by %.0f %% (median; 80 %% of systems: %.0f to %.0f %%)", tt.tasks, 100*median, 100*off[systems/10], 100*off[systems-1-systems/10])
		if median < tt.low || median > tt.up {
			t.Errorf("%g tasks a slot: off by %g", tt.tasks, median)
		}
	}
}
