package rented

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"berth/test/support/rentedsim"
)

// meanValues solves the network by mean value analysis with a load-dependent server: eqs. 10 to 15 of the paper with the
// total rate r(j) in the place of eq. 9's rate of a machine, and the mean compute time in that of eq. 11's 1/μ_agg. The
// probability of an empty server is a ratio of normalisation constants, as the difference of eq. 14 cancels.
func meanValues(n Network) (throughput float64) {
	p := []float64{1} // of j machines at the server, of k−1 in the network
	for k := 1; k <= n.Machines; k++ {
		wait := 0.0
		for j := 1; j <= k; j++ {
			wait += p[j-1] * float64(j) / n.rate(j)
		}
		throughput = float64(k) / (wait + n.Compute)
		next := make([]float64, k+1)
		for j := 1; j <= k; j++ {
			next[j] = throughput / n.rate(j) * p[j-1]
		}
		next[0] = p[0] * throughput * n.Compute / float64(k)
		p = next
	}
	return throughput
}

// productForm sums up the states' weights as they are written, in logarithms.
func productForm(n Network) (throughput float64) {
	logs := make([]float64, n.Machines+1)
	server := 0.0
	for j := range logs {
		if j > 0 {
			server -= math.Log(n.rate(j))
		}
		rest := float64(n.Machines - j)
		factorial, _ := math.Lgamma(rest + 1)
		logs[j] = server + rest*math.Log(n.Compute) - factorial
	}
	top := logs[0]
	for _, l := range logs {
		top = math.Max(top, l)
	}
	all := 0.0
	for j, l := range logs {
		w := math.Exp(l - top)
		all += w
		if j > 0 {
			throughput += w * n.rate(j)
		}
	}
	return throughput / all
}

func near(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*math.Max(math.Abs(a), math.Abs(b))
}

func networks(t *rapid.T) Network {
	return Network{
		Machines: rapid.IntRange(1, 120).Draw(t, "machines"), Compute: rapid.Float64Range(0.01, 1000).Draw(t, "compute"),
		Transfer: rapid.Float64Range(0.001, 1000).Draw(t, "transfer"), Server: rapid.Float64Range(0.0001, 100).Draw(t, "server"),
	}
}

// TestSolve: recursion by ratios, mean value analysis and the product form agree to 1e-9.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := networks(t)
		got, mva, form := n.Solve().Throughput, meanValues(n), productForm(n)
		if !near(got, mva, 1e-9) || !near(got, form, 1e-9) {
			t.Fatalf("%+v: %.12g, mean value analysis %.12g, product form %.12g", n, got, mva, form)
		}
	})
}

// TestSolveEnds: no data, no computing, one machine, no limit of the server, and more than it can serve.
func TestSolveEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    Network
		want Load
	}{
		{"no data", Network{5, 10, 0, 0}, Load{Throughput: 0.5}},
		{"no computing", Network{4, 0, 2, 1}, Load{Throughput: 1, Transfer: 4, Use: 1, Saturated: 1}},
		{"one machine", Network{1, 3, 1, 0.5}, Load{Throughput: 0.25, Transfer: 1, Use: 0.125}},
		{"no limit", Network{10, 3, 1, 0}, Load{Throughput: 2.5, Transfer: 1}},
		{"saturated", Network{1000, 3, 1, 1}, Load{Throughput: 1, Transfer: 997, Use: 1, Saturated: 1}},
	} {
		got := tt.n.Solve()
		for _, pair := range [][2]float64{{got.Throughput, tt.want.Throughput}, {got.Transfer, tt.want.Transfer}, {got.Use, tt.want.Use}, {got.Saturated, tt.want.Saturated}} {
			if !near(pair[0], pair[1], 1e-9) {
				t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
				break
			}
		}
	}
}

// TestSimulated: the throughput of long runs is that of a simulation, whatever the distribution of times.
func TestSimulated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []float64{0.2, 1} {
		for range 8 {
			n := Network{Machines: 2 + rng.IntN(20), Compute: 1 + 20*rng.Float64(), Transfer: 1 + 5*rng.Float64(), Server: 0.1 + rng.Float64()}
			s := rentedsim.System{Server: n.Server, Spread: spread, Rng: rng, Tasks: 20000}
			for range n.Machines {
				s.Compute, s.Transfer = append(s.Compute, n.Compute), append(s.Transfer, math.Max(n.Transfer, n.Server))
			}
			if got, want := n.Solve().Throughput, float64(s.Tasks)/s.Makespan(); !near(got, want, 0.03) {
				t.Errorf("%+v, spread %g: %g tasks/s, simulated %g", n, spread, got, want)
			}
		}
	}
}

// byClasses returns the throughput of unequal machines with one transfer time exactly: the state is the set of machines at
// the server, of weight ∏ transfer · ∏ compute of the others · ∏_{l≤j} max(1, l·server/transfer).
func byClasses(compute []float64, transfer, server float64) float64 {
	sets := []float64{1} // [z^j] ∏ (compute_k + transfer·z)
	for _, c := range compute {
		next := make([]float64, len(sets)+1)
		for j, w := range sets {
			next[j] += w * c
			next[j+1] += w * transfer
		}
		sets = next
	}
	var all, flow, slowed float64 = 0, 0, 1
	for j, w := range sets {
		slowed *= math.Max(1, float64(j)*server/transfer)
		all += w * slowed
		if j > 0 {
			flow += w * slowed * math.Min(float64(j)/transfer, 1/server)
		}
	}
	return flow / all
}

// TestAggregate: for unequal machines the aggregate is off by 5 % of the exact throughput at most; the paper's, with mean rates
// (eqs. 5 to 8 read as sums), by up to a third.
func TestAggregate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	worst, worstPaper := 0.0, 0.0
	for range 2000 {
		transfer, server := 0.5+5*rng.Float64(), 0.05+0.5*rng.Float64()
		transfer = math.Max(transfer, server)
		compute := make([]float64, 2+rng.IntN(30))
		var sum Sum
		rates := 0.0
		for k := range compute {
			compute[k] = math.Exp(3 * rng.Float64())
			rates += 1 / compute[k]
			sum.Add(1, 1/(compute[k]+transfer), transfer)
		}
		exact := byClasses(compute, transfer, server)
		paper := Network{len(compute), float64(len(compute)) / rates, transfer, server}.Solve().Throughput
		worst = math.Max(worst, math.Abs(sum.Network(server).Solve().Throughput/exact-1))
		worstPaper = math.Max(worstPaper, math.Abs(paper/exact-1))
	}
	t.Logf("off by %.1f %% at most, the paper's by %.1f %%", 100*worst, 100*worstPaper)
	if worst > 0.05 {
		t.Errorf("the aggregate is off by %.1f %%", 100*worst)
	}
}

func BenchmarkSolve(b *testing.B) {
	for b.Loop() {
		_ = Network{Machines: 10000, Compute: 3600, Transfer: 2, Server: 0.3}.Solve()
	}
}
