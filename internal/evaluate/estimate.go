package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of all half-widths, as in the paper.
const Confidence = 0.95

// Estimate is a mean over replications.
type Estimate struct {
	Mean float64
	// Half is half the width of the confidence interval of the mean, by Student's t; +Inf
	// with one replication that is random.
	Half float64
	N    int // replications that have a value
}

// Mean estimates a mean by the average. Values that are NaN stand for replications without one.
func Mean(values []float64) Estimate {
	n, sum := 0, 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
			sum += v
		}
	}
	if n == 0 {
		return Estimate{Mean: math.NaN(), Half: math.Inf(1)}
	}
	e := Estimate{Mean: sum / float64(n), N: n}
	squares := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			squares += (v - e.Mean) * (v - e.Mean)
		}
	}
	e.Half = halfWidth(squares, n)
	return e
}

// halfWidth returns the half-width of the mean of n values whose squared distances from it
// add up to squares.
func halfWidth(squares float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	free := n - 1
	return studentsT(free) * math.Sqrt(squares/float64(free)/float64(n))
}

// studentsT returns how many standard errors wide half of an interval is, with so many degrees
// of freedom.
func studentsT(free int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(free)}.Quantile((1 + Confidence) / 2)
}

// Within reports whether the half-width is at most such a share of the mean.
func (e Estimate) Within(precision float64) bool { return e.Relative() <= precision }

// HalfWidth returns half the width of the interval rounded to so many digits, nil if it is not known.
func (e Estimate) HalfWidth(digits int) *float64 {
	if math.IsInf(e.Half, 0) || math.IsNaN(e.Half) {
		return nil
	}
	half := Round(e.Half, digits)
	return &half
}

// Round rounds to so many digits behind the point: those beyond may differ between machines.
func Round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// Relative returns the half-width as a share of the mean, 0 where both are 0.
func (e Estimate) Relative() float64 {
	if e.Half == 0 {
		return 0
	}
	return e.Half / math.Abs(e.Mean)
}

// Reduction estimates by which share values are below base: 1 − mean(values)/mean(base), of
// pairs that were measured with the same random numbers. Its half-width is that of a ratio
// of means, from the residuals value − ratio·base (Law, "Simulation Modeling and Analysis",
// section 9.4.2, for the ratio; Fieller's interval but for its last term). NaN stands for none.
func Reduction(values, base []float64, mean func([]float64) Estimate) Estimate {
	values, base = slices.Clone(values), slices.Clone(base)
	for i := range values {
		if math.IsNaN(values[i] + base[i]) {
			values[i], base[i] = math.NaN(), math.NaN()
		}
	}
	v, b := mean(values), mean(base)
	if b.N == 0 || b.Mean == 0 {
		return Estimate{Mean: math.NaN(), Half: math.Inf(1)}
	}
	ratio := v.Mean / b.Mean
	for i := range values {
		values[i] -= ratio * base[i]
	}
	return Estimate{Mean: 1 - ratio, Half: mean(values).Half / math.Abs(b.Mean), N: b.N}
}
