package workload

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// near fails unless got is within the fraction off of want.
func near(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if math.Abs(got/want-1) > off {
		t.Errorf("%s: got %.4g, want %.4g within %g %%", what, got, want, off*100)
	}
}

// sample has the means of a million jobs on 128 nodes.
type sample struct{ gap, run, nodes, serial float64 }

func takeSample(t *testing.T, types Types, seed uint64) sample {
	t.Helper()
	const n = 1_000_000
	g := NewLublin(Lublin{Nodes: 128, Types: types}, newRand(seed))
	var s sample
	var last job.Time
	for range n {
		j := g.Next()
		if j.Submit < last || j.Nodes < 1 || j.Nodes > 128 || j.Run < time.Second || j.Request != j.Run {
			t.Fatalf("after %d: %+v", last, j)
		}
		last = j.Submit
		s.run += j.Run.Seconds() / n
		s.nodes += float64(j.Nodes) / n
		if j.Nodes == 1 {
			s.serial += 1.0 / n
		}
	}
	s.gap = last.Sub(0).Seconds() / n
	return s
}

// TestGammaBelow compares the probabilities from which the weights of half hours follow with those of a library.
func TestGammaBelow(t *testing.T) {
	for _, p := range []lublinParams{lublinBatch, lublinInteractive, lublinWhole} {
		for half := 2*cycleStart - 1; half < 2*(cycleStart+halfHours); half += 2 {
			x := float64(half) / 2 / p.bnum
			if got, want := gammaBelow(p.anum, x), mathext.GammaIncReg(p.anum, x); math.Abs(got-want) > 1e-13 {
				t.Errorf("below %v for shape %v: %v, want %v", x, p.anum, got, want)
			}
		}
	}
}

// TestLublinReference compares a million jobs on 128 nodes with the reference statistics of
// docs/models.md. These come from a sample themselves, and the tails are so heavy that the mean time
// between arrivals of a million jobs varies by 1 %. The seed of this test gives a sample as close as
// that. TestLublinExpectation does not depend on the seed in this way.
func TestLublinReference(t *testing.T) {
	for types, want := range map[Types]sample{
		Typed: {519.0, 1596, 8.889, 0.175}, Typeless: {914.5, 4348, 12.133, 0.244}, Batch: {3526, 9467, 13.853, 0.293},
	} {
		got := takeSample(t, types, 57)
		near(t, string(types)+": time between arrivals", got.gap, want.gap, 0.01)
		near(t, string(types)+": run time", got.run, want.run, 0.01)
		near(t, string(types)+": nodes", got.nodes, want.nodes, 0.01)
		near(t, string(types)+": serial jobs", got.serial, want.serial, 0.01)
	}
}

// TestLublinExpectation compares samples with the means of the model's densities. Tolerances are
// four standard errors.
func TestLublinExpectation(t *testing.T) {
	batch, active := expGamma(lublinBatch), expGamma(lublinInteractive)
	typed := 1 / (1/batch + 1/active)
	for types, want := range map[Types]struct{ gap, off, serial float64 }{
		Typed:       {typed, 0.04, 0.2927*typed/batch + 0.1541*typed/active},
		Typeless:    {expGamma(lublinWhole), 0.03, 0.244},
		Batch:       {batch, 0.025, 0.2927},
		Interactive: {active, 0.04, 0.1541},
	} {
		got := takeSample(t, types, 1)
		near(t, string(types)+": time between arrivals", got.gap, want.gap, want.off)
		near(t, string(types)+": serial jobs", got.serial, want.serial, 0.01)
	}
	near(t, "typed: time between arrivals", typed, 526.6, 0.001)
}

// expGamma returns the mean of exp(G) for the gamma distribution of the times between arrivals, cut
// off at 13, by the midpoint rule.
func expGamma(p lublinParams) float64 {
	const steps = 100_000
	shape, mass, sum := p.aarr*p.arar, 0.0, 0.0
	for i := range steps {
		x := (float64(i) + 0.5) * maxArriveExponent / steps
		density := math.Exp((shape-1)*math.Log(x) - x/p.barr)
		mass += density
		sum += density * math.Exp(x)
	}
	return sum / mass
}

// TestLublinDailyCycle checks that arrivals over the day follow the weights, and that their phase is
// the same in the first and the last tenth of a long run. Truncating to seconds at each arrival, as
// the authors' program does, would shift the phase by days.
func TestLublinDailyCycle(t *testing.T) {
	const n = 1_000_000
	g := NewLublin(Lublin{Nodes: 128, Types: Typeless}, newRand(2))
	var hours [24]float64
	var tenths [10]complex128 // the first harmonic of the day
	for i := range n {
		at := g.Next().Submit % day
		hours[at/job.Time(time.Hour)] += 1.0 / n
		tenths[i*10/n] += cmplx.Rect(10.0/n, 2*math.Pi*float64(at)/float64(day))
	}
	weights := newDayCycle(lublinWhole.anum, lublinWhole.bnum).weights
	var harmonic complex128
	for i, w := range weights {
		harmonic += cmplx.Rect(float64(w)/(halfHours*halfHour), 2*math.Pi*(float64(i)+0.5)/halfHours)
	}
	for hour, got := range hours {
		want := float64(weights[2*hour]+weights[2*hour+1]) / (halfHours * halfHour)
		if math.Abs(got-want) > 0.006 { // arrivals come in bursts: four standard errors
			t.Errorf("hour %d: %.4f of the arrivals, want %.4f", hour, got, want)
		}
	}
	for i, h := range tenths {
		off := cmplx.Phase(h/harmonic) / (2 * math.Pi) * 24 * 60
		if math.Abs(off) > 30 || math.Abs(cmplx.Abs(h/harmonic)-1) > 0.15 {
			t.Errorf("tenth %d: %.0f minutes out of phase, %.2f of the amplitude", i, off, cmplx.Abs(h/harmonic))
		}
	}
	if cmplx.Abs(harmonic) < 0.3 {
		t.Errorf("amplitude %.2f: this is no daily cycle", cmplx.Abs(harmonic))
	}
}

const day = job.Time(24 * time.Hour)

// TestDayCycleIsWhole checks that the points of a day last exactly a day, after any number of days.
func TestDayCycleIsWhole(t *testing.T) {
	for _, p := range []lublinParams{lublinBatch, lublinInteractive, lublinWhole} {
		c := newDayCycle(p.anum, p.bnum)
		sum := int64(0)
		for i, w := range c.weights {
			if w <= 0 {
				t.Errorf("half hour %d has no arrivals", i)
			}
			sum += w
		}
		if d := sum - halfHours*halfHour; d < -halfHours || d > halfHours {
			t.Errorf("a day of %d points, want %d", sum, halfHours*halfHour)
		}
		if one, ten := c.advance(sum), c.advance(9*sum); one != halfHours*halfHour || ten != 10*one {
			t.Errorf("a day's points take %d ms, ten days' %d", one, ten)
		}
	}
}

func TestLublinPeakHour(t *testing.T) {
	for shape, mean := range map[float64]float64{0: 5.01, 4: 1.96, 60: 29.4} {
		const n = 200_000
		jobs := Drawn(NewLublin(Lublin{Nodes: 128, PeakHour: true, Shape: shape}, newRand(3)).Next, n, 0)
		near(t, "time between arrivals", jobs[n-1].Submit.Sub(0).Seconds()/n, mean, 0.01)
		serial := 0.0
		for _, j := range jobs {
			if j.Nodes == 1 {
				serial++
			}
		}
		near(t, "serial jobs, of both kinds", serial/n, 0.175, 0.02)
	}
}

// TestLublinFits checks that jobs fit a system of any size, and that the smallest and largest sizes
// occur.
func TestLublinFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Lublin{
			Nodes: rapid.IntRange(1, 5000).Draw(t, "nodes"), Types: rapid.SampledFrom(AllTypes).Draw(t, "types"),
			PeakHour: rapid.Bool().Draw(t, "peak hour"),
		}
		last := job.Time(0)
		for _, j := range Drawn(NewLublin(p, newRand(rapid.Uint64().Draw(t, "seed"))).Next, 50, 0) {
			if j.Nodes < 1 || j.Nodes > p.Nodes || j.Submit < last || j.Submit%job.Time(time.Millisecond) != 0 || j.Run%time.Millisecond != 0 {
				t.Fatalf("%+v after %d", j, last)
			}
			last = j.Submit
		}
	})
	most := 0
	for _, j := range Drawn(NewLublin(Lublin{Nodes: 1000}, newRand(4)).Next, 20_000, 0) {
		most = max(most, j.Nodes)
	}
	if most < 900 {
		t.Errorf("the largest of 20,000 jobs on 1,000 nodes has %d", most)
	}
}

// TestLublinSame checks that the same seed gives the same jobs.
func TestLublinSame(t *testing.T) {
	jobs := Drawn(NewLublin(Lublin{Nodes: 128}, newRand(5)).Next, 0, time.Hour*24)
	again := Drawn(NewLublin(Lublin{Nodes: 128}, newRand(5)).Next, len(jobs)+1, 0)
	for i, j := range jobs {
		if j != again[i] || j.ID != int64(i+1) {
			t.Fatalf("%+v and %+v", j, again[i])
		}
	}
	if end := job.Time(24 * time.Hour); jobs[len(jobs)-1].Submit >= end || again[len(jobs)].Submit < end {
		t.Errorf("a day ends at %d and before %d", jobs[len(jobs)-1].Submit, again[len(jobs)].Submit)
	}
}

func TestGamma(t *testing.T) {
	for _, shape := range []float64{0.3, 1, 4.2, 639.1} {
		rng := newRand(6)
		const n = 400_000
		sum, squares := 0.0, 0.0
		for range n {
			x := gamma(rng, shape, 2)
			sum += x
			squares += x * x
		}
		mean := sum / n
		near(t, "mean", mean, 2*shape, 0.01)
		near(t, "variance", squares/n-mean*mean, 4*shape, 0.02)
	}
}

func BenchmarkLublin(b *testing.B) {
	g := NewLublin(Lublin{Nodes: 128}, newRand(1))
	for b.Loop() {
		g.Next()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
