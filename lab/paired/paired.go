// Package paired compares measurements that were made in pairs: one of each side in the same turn, so that what slows both
// down in a turn does not count. It is pure: the random numbers of the bootstrap have a fixed seed.
package paired

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Difference is the median of relative differences, where 0 is none, and the 95 % interval of that median by bootstrap.
type Difference struct {
	Median, Low, High float64
	Pairs             int
}

const (
	resamples = 2000
	// fewest is the number of pairs from which on an interval can say anything: all of five differences are on one side of
	// the true median in one case of sixteen, which is more than 5 %.
	fewest = 6
)

// Of returns the median of the differences, which may be in any order, with its interval.
func Of(differences []float64) Difference {
	n := len(differences)
	if n == 0 {
		return Difference{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(differences))
	random := rand.New(rand.NewPCG(1, 2))
	medians, drawn := make([]float64, resamples), make([]float64, n)
	for i := range medians {
		for k := range drawn {
			drawn[k] = sorted[random.IntN(n)]
		}
		slices.Sort(drawn)
		medians[i] = middle(drawn)
	}
	slices.Sort(medians)
	return Difference{Median: middle(sorted), Low: medians[resamples/40], High: medians[resamples-1-resamples/40], Pairs: n}
}

func middle(sorted []float64) float64 {
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Distinct reports whether the difference can be told from none.
func (d Difference) Distinct() bool { return d.Pairs >= fewest && (d.Low > 0 || d.High < 0) }

// String returns the difference in percent with its interval, and says if it cannot be told from none.
func (d Difference) String() string {
	if d.Pairs == 0 {
		return "not run"
	}
	text := percent(d.Median)
	if d.Pairs > 1 {
		text += fmt.Sprintf(" (%s to %s)", percent(d.Low), percent(d.High))
	}
	switch {
	case d.Pairs < fewest:
		text += fmt.Sprintf(", not distinguishable from nothing: only %d of %d pairs", d.Pairs, fewest)
	case !d.Distinct():
		text += ", not distinguishable from nothing"
	}
	return text
}

// percent writes a fraction with a sign, with more digits if it is small.
func percent(x float64) string {
	digits := 0
	if math.Abs(x) < 0.1 {
		digits = 1
	}
	return strings.Replace(fmt.Sprintf("%+.*f %%", digits, 100*x), "-", "−", 1)
}
