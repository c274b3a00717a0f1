package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestDeal: no type tries a task twice, and only the allowed number of tasks is tried on several types.
func TestDeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks, types, twice := rapid.IntRange(0, 300).Draw(t, "tasks"), rapid.IntRange(1, 5).Draw(t, "types"), rapid.Bool().Draw(t, "twice")
		lists := Deal(rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))), tasks, types, twice)
		count := map[int]int{}
		for _, l := range lists {
			once := map[int]bool{}
			for _, task := range l {
				if task < 0 || task >= tasks || once[task] {
					t.Fatalf("%v", lists)
				}
				once[task] = true
				count[task]++
			}
		}
		same, want := 0, min(tasks, Size*types)
		if twice {
			want = min(tasks, Size)
		}
		for _, n := range count {
			if n == types && types > 1 {
				same++
			} else if n != 1 {
				t.Fatalf("a task is tried %d times: %v", n, lists)
			}
		}
		if len(count) != want || types > 1 && twice != (same > 0) && tasks > 0 || same > Replicated {
			t.Fatalf("%d tasks are tried, %d of them on all types", len(count), same)
		}
	})
}

// try draws task times and runs those that are dealt, on types with those factors and a noise of each run.
func try(rng *rand.Rand, tasks int, factors []float64, spread, noise float64, twice bool) (runs []Run, mean float64) {
	work := make([]float64, tasks)
	for i := range work {
		work[i] = lognormal(rng, 60, spread)
		mean += work[i] / float64(tasks)
	}
	for t, l := range Deal(rng, tasks, len(factors), twice) {
		for _, task := range l {
			runs = append(runs, Run{task, t, work[task] * factors[t] * lognormal(rng, 1, noise)})
		}
	}
	return runs, mean
}

func lognormal(rng *rand.Rand, mean, spread float64) float64 {
	sigma := math.Sqrt(math.Log1p(spread * spread))
	return mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2)
}

// TestEstimates: over many bags the intervals hold the true mean about as often as they say, and the ratio of two types is known better
// from thirty tasks, seven of which ran on both, than from thirty others on each.
func TestEstimates(t *testing.T) {
	const bags = 400
	factors := []float64{1, 0.4, 2.5}
	for _, twice := range []bool{true, false} {
		within, off := 0, 0.0
		for i := range bags {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			runs, mean := try(rng, 1000, factors, 0.5, 0.05, twice)
			es := Estimates(3, runs)
			for k, e := range es {
				if true := mean * factors[k]; e.Low <= true && true <= e.Up {
					within++
				}
				if twice && (e.Tried+e.Carried != Size || e.Tried < 14) || !twice && (e.Tried != Size || e.Carried != 0) || math.Abs(e.Spread-0.5) > 0.45 {
					t.Fatalf("bag %d: %+v", i, e)
				}
			}
			off += math.Abs(es[1].Mean/es[0].Mean/0.4-1) / bags
		}
		share := float64(within) / (3 * bags)
		t.Logf("tasks twice %v: %.1f %% of intervals hold the mean, the ratio of two types is off by %.1f %%", twice, 100*share, 100*off)
		if share < 0.9 || twice && off > 0.04 {
			t.Errorf("tasks twice %v: %.3f, %.3f", twice, share, off)
		}
	}
}

// TestFewRuns: without runs an estimate is unknown.
func TestFewRuns(t *testing.T) {
	es := Estimates(2, []Run{{0, 0, 10}, {1, 0, 12}, {0, 0, 99}})
	if es[0].Mean != 11 || es[0].Tried != 2 || es[1] != (Estimate{}) {
		t.Errorf("%+v", es)
	}
}

// TestStudentsTAsElsewhere compares with a library.
func TestStudentsTAsElsewhere(t *testing.T) {
	for free := 1; free < 1000; free++ {
		want := distuv.StudentsT{Sigma: 1, Nu: float64(free)}.Quantile((1 + Confidence) / 2)
		if got := StudentsT(free); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%d degrees of freedom: %v, want %v", free, got, want)
		}
	}
}

// TestMeasure: a machine's own rate comes from its moves alone, and the server's capacity from simultaneous moves.
func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		name   string
		moves  []Move
		rates  []float64
		peak   float64
		server float64
	}{
		{"nothing", nil, []float64{0, 0}, 0, 0},
		{"apart", []Move{{0, 0, 1, 10}, {1, 1, 2, 20}}, []float64{10, 20}, 20, 0},
		{"together, at full speed", []Move{{0, 0, 1, 10}, {0, 1, 2, 10}, {1, 1, 2, 20}}, []float64{10, 20}, 30, 0},
		{"together, held up", []Move{{0, 0, 1, 10}, {0, 1, 3, 10}, {1, 1, 3, 10}, {1, 3, 4, 10}}, []float64{10, 10}, 10, 10},
		{"never alone", []Move{{0, 0, 1, 10}, {1, 0, 1, 20}}, []float64{10, 20}, 30, 0},
	} {
		b := Measure(2, tt.moves)
		if !slices.Equal(b.Rates, tt.rates) || b.Peak != tt.peak || b.Server != tt.server {
			t.Errorf("%s: %+v", tt.name, b)
		}
	}
}
