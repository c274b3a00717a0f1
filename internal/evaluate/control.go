package evaluate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Control variates (Lavenberg and Welch, "A Perspective on the Use of Control Variables to
// Increase the Efficiency of Monte Carlo Simulations", 1981; Law, "Simulation Modeling and
// Analysis", section 11.4). How long jobs take depends first of all on which were drawn. Much
// of it is seen from the jobs alone, in a fraction of the time that a simulation takes: the
// controls of a load. So many more loads are drawn than simulated, of which the controls alone
// are found. Where those of the replications are off by chance, so are their measures, by as
// much as a linear regression says, and the means are corrected by it. They are known as well
// as from several times as many replications.

// controls are those of all replications of a study, made ready for regressions.
type controls struct {
	// basis has the values of each control, one a replication, less their mean and less what
	// those before it explain of them: orthogonal to each other.
	basis [][]float64
	// size is the sum of squares of each, off its mean over replications less that over pilots.
	size, off []float64
	pilots    int // further loads, of which the controls alone are known
}

// negligible is the share of a control's squares below which it is taken to be constant, or to
// be known from those before it.
const negligible = 1e-9

// newControls takes the controls of replications, a row each, and their sums over pilots.
func newControls(rows [][]float64, sums []float64, pilots int) *controls {
	c := &controls{pilots: pilots}
	u := make([]float64, len(rows))
	for k, sum := range sums {
		for i, row := range rows {
			u[i] = row[k]
		}
		all, m := floats.Dot(u, u), stat.Mean(u, nil)
		off := m - sum/float64(pilots)
		floats.AddConst(-m, u)
		for b, before := range c.basis {
			share := floats.Dot(u, before) / c.size[b]
			floats.AddScaled(u, -share, before)
			off -= share * c.off[b]
		}
		if size := floats.Dot(u, u); size > negligible*all {
			c.basis, c.size, c.off = append(c.basis, u), append(c.size, size), append(c.off, off)
			u = make([]float64, len(rows))
		}
	}
	return c
}

// mean estimates the mean of values, one a replication, by their regression on the controls.
// The half-width has two parts: what the regression leaves unexplained, which the replications
// tell, and what it explains, as far as the pilots tell what the controls are on average.
func (c *controls) mean(values []float64) Estimate {
	n, free := len(values), len(values)-1-len(c.basis)
	if free < 1 {
		return Mean(values)
	}
	e := Estimate{Mean: stat.Mean(values, nil), N: n}
	rest := make([]float64, n)
	copy(rest, values)
	floats.AddConst(-e.Mean, rest)
	explained, weight := 0.0, 1/float64(n)
	for k, u := range c.basis {
		slope := floats.Dot(rest, u) / c.size[k]
		floats.AddScaled(rest, -slope, u)
		e.Mean -= slope * c.off[k]
		explained += slope * slope * c.size[k]
		weight += c.off[k] * c.off[k] / c.size[k]
	}
	variance := weight*floats.Dot(rest, rest)/float64(free) + explained/float64(n-1)/float64(c.pilots)
	e.Half = studentsT(free) * math.Sqrt(variance)
	return e
}
