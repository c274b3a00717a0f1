package evaluate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"berth/internal/core/predict/sample"
	"berth/internal/simulate/replicate"
)

// Control variates (Lavenberg and Welch, "A Perspective on the Use of Control Variables to Increase
// the Efficiency of Monte Carlo Simulations", 1981; Law, "Simulation Modeling and Analysis", section
// 11.4). The turnaround of jobs depends most on which jobs were drawn. Much of this dependence can
// be computed from the jobs alone, in a fraction of the time of a simulation. These figures are the
// controls of a load. So many more loads, the pilots, are drawn than are simulated, and only their
// controls are computed. If the controls of the replications differ from those of the pilots by
// chance, a linear regression gives the resulting error of the measured means, which is then
// subtracted. The means become as accurate as those of several times as many replications.

// controls are the controls of all replications of a study, prepared for regressions.
type controls struct {
	// basis has the values of each control, one for each replication, less their mean and less their
	// projection on the controls before. So the controls in basis are orthogonal.
	basis [][]float64
	// size is the sum of squares of each control. off is its mean over the replications less that
	// over the pilots.
	size, off []float64
	pilots    int // number of pilots
}

// negligible is the fraction of a control's squares below which the control counts as constant, or
// as a linear function of those before it.
const negligible = 1e-9

// newControls returns the controls of replications, one row each, given the sums of the pilots'
// controls.
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

// mean estimates the mean of values, one for each replication, by regression on the controls. The
// half-width has two parts: the residual of the regression, estimated from the replications, and the
// uncertainty of the controls' means, estimated from the pilots.
func (c *controls) mean(values []float64) replicate.Estimate {
	n, free := len(values), len(values)-1-len(c.basis)
	if free < 1 {
		return replicate.Mean(values)
	}
	e := replicate.Estimate{Mean: stat.Mean(values, nil), N: n}
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
	e.Half = sample.StudentsT(free) * math.Sqrt(variance)
	return e
}
