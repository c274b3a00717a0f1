package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// workload is a job under test: a bag, or with reduces a MapReduce job. Each task needs one CPU.
type workload struct {
	name     string
	draw     func(r *rand.Rand) []float64 // durations of the tasks or maps, in seconds
	reduces  int
	reduceTo float64 // duration of a reduce in seconds
}

// even draws n uniformly distributed durations from low to high.
func even(n int, low, high float64) func(*rand.Rand) []float64 {
	return func(r *rand.Rand) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = tenths(low + (high-low)*r.Float64())
		}
		return d
	}
}

// skewed draws n lognormal durations, limited to longest: most tasks are short, and a few take many
// times as long.
func skewed(n int, median, sigma, longest float64) func(*rand.Rand) []float64 {
	return func(r *rand.Rand) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = tenths(min(longest, median*math.Exp(sigma*r.NormFloat64())))
		}
		return d
	}
}

// tenths rounds to the precision of sleep's argument.
func tenths(s float64) float64 { return math.Round(s*10) / 10 }

// The seeds of the durations: for the compared runs, and for the earlier run from which berth has a
// profile.
const (
	seedRun     = 1
	seedEarlier = 2
)

// durations returns the durations of the tasks or maps.
func (w *workload) durations(seed uint64) []float64 {
	return w.draw(rand.New(rand.NewPCG(seed, seed)))
}

// longest returns the seconds of the longest task, map or reduce of the compared runs.
func (w *workload) longest() float64 {
	return max(slices.Max(w.durations(seedRun)), w.reduceTo)
}

// tasks returns the number of tasks or maps.
func (w *workload) tasks() int { return len(w.durations(seedRun)) }

// text describes the job for the table.
func (w *workload) text() string {
	d := w.durations(seedRun)
	if w.reduces == 0 {
		return fmt.Sprintf("bag: %d × %s s", len(d), spread(d))
	}
	return fmt.Sprintf("MapReduce: %d maps × %s s, %d reduces × %g s", len(d), spread(d), w.reduces, w.reduceTo)
}

func spread(d []float64) string {
	low, decimals := slices.Min(d), 0
	if low < 1 {
		decimals = 1
	}
	return fmt.Sprintf("%.*f–%.0f", decimals, low, slices.Max(d))
}

// The jobs of the script. CPU-seconds: wide 1000, bag 750, small 144, skew about 500, few about 450,
// mr 350, wide MapReduce 740, few maps 300.
var (
	wideBag = &workload{name: "wide-bag", draw: even(200, 3, 7)}
	midBag  = &workload{name: "mid-bag", draw: even(100, 5, 10)}
	little  = &workload{name: "little-bag", draw: even(24, 4, 8)}
	skewBag = &workload{name: "skewed-bag", draw: skewed(80, 4, 0.8, 40)}
	longBag = &workload{name: "long-bag", draw: even(6, 60, 90)}
	midMR   = &workload{name: "mid-mapreduce", draw: even(32, 6, 10), reduces: 8, reduceTo: 12}
	wideMR  = &workload{name: "wide-mapreduce", draw: even(96, 4, 8), reduces: 16, reduceTo: 10}
	longMR  = &workload{name: "long-mapreduce", draw: even(6, 30, 45), reduces: 2, reduceTo: 30}
)
