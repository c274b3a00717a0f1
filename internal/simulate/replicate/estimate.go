package replicate

import (
	"math"
	"slices"

	"berth/internal/core/predict/sample"
)

// Estimate is a mean over replications.
type Estimate struct {
	Mean float64
	// Half is half the width of the confidence interval of the mean at the level sample.Confidence, by Student's t. It is +Inf for
	// a single random replication.
	Half float64
	N    int // number of replications that have a value
}

// Mean estimates a mean by the average. NaN stands for a replication without a value.
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

// halfWidth returns the half-width of the mean of n values, given the sum of their squared distances
// from the mean.
func halfWidth(squares float64, n int) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	free := n - 1
	return sample.StudentsT(free) * math.Sqrt(squares/float64(free)/float64(n))
}

// HalfWidth returns the half-width rounded to a number of digits, or nil if it is unknown.
func (e Estimate) HalfWidth(digits int) *float64 {
	if math.IsInf(e.Half, 0) || math.IsNaN(e.Half) {
		return nil
	}
	half := Round(e.Half, digits)
	return &half
}

// Round rounds to a number of digits after the decimal point. Further digits may differ between
// machines.
func Round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// Reduction estimates by which fraction values are below base: 1 − mean(values)/mean(base), for
// pairs measured with the same random numbers. Its half-width is that of a ratio of means, from the
// residuals value − ratio·base (Law, "Simulation Modeling and Analysis", section 9.4.2; Fieller's
// interval without its last term). NaN stands for a missing value.
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
