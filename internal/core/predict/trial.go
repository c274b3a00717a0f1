package predict

import (
	"math"
	"math/rand/v2"
)

// Load is the number of tasks to run. A bag's tasks are Maps, and it has no Reduces.
type Load struct{ Maps, Reduces int }

// Trials returns how many simulated runs to compare: at least least and at most most; between these bounds so many that all of them together
// have about placed tasks.
func (l Load) Trials(least, most, placed int) int {
	return min(max(placed/max(l.Maps+l.Reduces, 1), least), most)
}

// Trial is one simulated run of a job: the duration of each of its tasks, in seconds.
type Trial struct {
	Maps Series // bag tasks or maps
	// The shuffle of a reduce has its duration in First if its slot existed when the last map ended, else in Other; its
	// sort and reduce have theirs in Reduces.
	First, Other, Reduces Series
}

// Series is durations in seconds in the order in which tasks begin. With more tasks than durations it repeats from
// the start; an empty one is all zeros.
type Series struct {
	values  []float64
	sums    []float64 // sums[i] is the sum of values[:i]
	squares float64   // the sum of their squares
}

// NewSeries returns the series of the given durations and keeps the slice.
func NewSeries(values []float64) Series {
	s := Series{values: values, sums: make([]float64, len(values)+1)}
	for i, v := range values {
		s.sums[i+1] = s.sums[i] + v
		s.squares += v * v
	}
	return s
}

// at returns the duration of task i.
func (s Series) at(i int) float64 {
	switch n := len(s.values); {
	case i < n:
		return s.values[i]
	case n == 0:
		return 0
	default:
		return s.values[i%n]
	}
}

// sum returns the duration of n tasks together, from task i on.
func (s Series) sum(i, n int) float64 {
	if len(s.values) == 0 {
		return 0
	}
	return s.upTo(i+n) - s.upTo(i)
}

// upTo returns the duration of the first n tasks together.
func (s Series) upTo(n int) float64 {
	k := len(s.values)
	return float64(n/k)*s.sums[k] + s.sums[n%k]
}

// mean returns the mean of the durations.
func (s Series) mean() float64 {
	if len(s.values) == 0 {
		return 0
	}
	return s.sums[len(s.values)] / float64(len(s.values))
}

// sd returns their standard deviation.
func (s Series) sd() float64 {
	if len(s.values) == 0 {
		return 0
	}
	mean := s.mean()
	return math.Sqrt(max(0, s.squares/float64(len(s.values))-mean*mean))
}

// seriesLength is the largest number of durations that are drawn for the tasks of a stage. Their mean is within a
// hundredth of their standard deviation of the true one, so a million tasks cost no more.
const seriesLength = 1 << 13

// series returns n drawn durations, multiplied by factor.
func (s sampler) series(rng *rand.Rand, n int, factor float64) Series {
	if len(s.upto) == 0 {
		return Series{}
	}
	values := make([]float64, min(n, seriesLength))
	for i := range values {
		values[i] = factor * s.draw(rng)
	}
	return NewSeries(values)
}

// Trials is a sample of a job's runs with the placement of their tasks. Candidates that are compared by the same
// Trials meet the same durations, so that few trials suffice. A Trials is not safe for concurrent use.
type Trials struct {
	load   Load
	runs   []Trial
	expect Expected
	list   list // reused
	work   *[2]float64
	alone  map[Window]*Alone // results of Alone

	// Of AtLeast: the totals of each run, and reused memory.
	totals        []total
	bounds        []float64
	maps, reduces capacity
}

// NewTrials draws n runs of a job from the measured durations. runs is the number of measured runs. As in
// Estimate.Spread the next run may differ from all of them, so all tasks of a trial have a common factor of mean 1
// and lognormal distribution, whose standard deviation on the logarithmic scale is σ = ln((runs+2)/(runs+1)). The
// factors of n trials are its n quantiles, not drawn, so that a few trials cover it. The same seed gives the same
// trials.
func NewTrials(inv Invariants, load Load, runs, n int, seed uint64) *Trials {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a simulation, not a secret
	maps, reduces := newSampler(inv.Map), newSampler(inv.Reduce)
	first, other := newSampler(inv.FirstShuffle), newSampler(inv.OtherShuffle)
	sigma := math.Log(float64(runs+2) / float64(runs+1))
	trials := make([]Trial, n)
	for i := range trials {
		z := math.Sqrt2 * math.Erfinv((2*float64(i)+1)/float64(n)-1)
		f := math.Exp(sigma*z - sigma*sigma/2)
		trials[i] = Trial{
			Maps:  maps.series(rng, load.Maps, f),
			First: first.series(rng, load.Reduces, f), Other: other.series(rng, load.Reduces, f), Reduces: reduces.series(rng, load.Reduces, f),
		}
	}
	return GivenTrials(load, ExpectedOf(inv), trials...)
}

// GivenTrials returns trials of known durations.
func GivenTrials(load Load, expect Expected, runs ...Trial) *Trials {
	return &Trials{load: load, runs: runs, expect: expect, alone: make(map[Window]*Alone)}
}

// Expect sets the expected longest durations of tasks.
func (t *Trials) Expect(e Expected) { t.expect = e }

// Work returns how long one slot alone would need for the maps and for the reduces, in seconds, on average over the
// trials. Shuffles count as the shorter of the two kinds.
func (t *Trials) Work() (maps, reduces float64) {
	if t.work == nil {
		t.work = &[2]float64{}
		n := float64(len(t.runs))
		for i := range t.runs {
			r := &t.runs[i]
			t.work[0] += r.Maps.sum(0, t.load.Maps)
			t.work[1] += r.Reduces.sum(0, t.load.Reduces) + min(r.First.sum(0, t.load.Reduces), r.Other.sum(0, t.load.Reduces))
		}
		t.work[0], t.work[1] = t.work[0]/n, t.work[1]/n
	}
	return t.work[0], t.work[1]
}
