package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
)

// Drawn returns the jobs that next draws one after another: so many, or all that are submitted within a length above 0.
func Drawn[J interface{ submitted() job.Time }](next func() J, jobs int, length time.Duration) []J {
	drawn := make([]J, 0, jobs)
	for length > 0 || len(drawn) < jobs {
		j := next()
		if length > 0 && j.submitted() >= job.Time(length) {
			break
		}
		drawn = append(drawn, j)
	}
	return drawn
}

// millis rounds seconds to whole milliseconds, the unit of time of the generators. Sums of whole
// numbers are exact, so that rounding errors of draws do not accumulate.
func millis(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }

// duration rounds seconds to milliseconds.
func duration(seconds float64) time.Duration {
	return time.Duration(millis(seconds)) * time.Millisecond
}

// gamma draws from the gamma distribution with a shape and a scale above 0, as in G. Marsaglia, W.
// W. Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26(3), 2000: the cube of a
// shifted normal variable, of which less than 5 % are rejected.
func gamma(rng *rand.Rand, shape, scale float64) float64 {
	if shape < 1 { // section 6 of the paper: the draw of shape + 1 times U^(1/shape)
		return gamma(rng, shape+1, scale) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64() // never 0
		if u < 1-0.0331*x*x*x*x || math.Log(u) < 0.5*x*x+d*(1-v+math.Log(v)) {
			return scale * d * v
		}
	}
}

// Normal is a normal distribution of task times without its lower tail: a draw below a second, or
// below half the mean if that is less, is repeated.
type Normal struct{ Mean, SD time.Duration }

// Draw returns n times.
func (d Normal) Draw(rng *rand.Rand, n int) []time.Duration {
	least := min(time.Second, d.Mean/2)
	drawn := make([]time.Duration, n)
	for i := range drawn {
		t := least - 1
		for t < least {
			t = duration(d.Mean.Seconds() + d.SD.Seconds()*rng.NormFloat64())
		}
		drawn[i] = max(t, 1)
	}
	return drawn
}
