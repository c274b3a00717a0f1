package rented

import "math"

// Residual is the distribution of the remaining time of a task at a moment at which tasks of its machine begin and
// end in equilibrium. Task times are log-normal with that mean (seconds) and ratio of standard deviation to mean.
type Residual struct{ Mean, Spread float64 }

// Mass returns the distribution function at t seconds: (1/mean)·∫₀ᵗ P(task time > u) du.
func (r Residual) Mass(t float64) float64 {
	if t <= 0 {
		return 0
	}
	if r.Spread < 1e-6 { // all tasks take the same time, and the residual time is uniform
		return min(1, t/r.Mean)
	}
	sigma := math.Sqrt(math.Log1p(r.Spread * r.Spread))
	a := (math.Log(t/r.Mean) + sigma*sigma/2) / sigma
	return min(1, t/r.Mean*normal(-a)+normal(a-sigma))
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// Credit returns how many tasks a machine has begun beyond time × rate: at time t of a renewal process that begins
// with a task, t/mean + (1 + spread²)/2 tasks have begun on average (Smith 1954).
func Credit(spread float64) float64 { return (1 + spread*spread) / 2 }

// Grid is the instants at which residual times of machines are compared.
type Grid []float64

// NewGrid returns the instants for machines whose mean task times lie between shortest and longest seconds.
func NewGrid(shortest, longest, spread float64) Grid {
	sigma := math.Sqrt(math.Log1p(spread * spread))
	last := longest * math.Exp(6*sigma)
	g := Grid{0}
	for t := shortest / 20; t < last; t *= 1.25 {
		g = append(g, t)
	}
	return append(g, last)
}

// Logs returns log Mass at each instant; these are added up over machines. The instant 0 has the value of the next.
func (g Grid) Logs(r Residual) []float64 {
	logs := make([]float64, len(g))
	for i, t := range g {
		logs[i] = math.Log(r.Mass(t))
	}
	logs[0] = logs[1]
	return logs
}

// Longest returns mean and variance of the longest of many residual times; logs are the sums of their Logs.
func (g Grid) Longest(logs []float64) (mean, variance float64) {
	square := 0.0
	before := -math.Expm1(logs[0])
	for i := 1; i < len(g); i++ {
		at := 0.0
		switch {
		case logs[i] < -40:
			at = 1
		case logs[i] < -1e-17:
			at = -math.Expm1(logs[i])
		}
		mean += (before + at) / 2 * (g[i] - g[i-1])
		square += (before*g[i-1] + at*g[i]) * (g[i] - g[i-1])
		if at == 0 {
			break
		}
		before = at
	}
	return mean, max(0, square-mean*mean)
}

// LongestMean returns the same mean from the probabilities, at each instant, that all residual times are over.
func (g Grid) LongestMean(done []float64) (mean float64) {
	before := 1 - done[0]
	for i := 1; i < len(g); i++ {
		at := 1 - done[i]
		mean += (before + at) / 2 * (g[i] - g[i-1])
		before = at
	}
	return mean
}
