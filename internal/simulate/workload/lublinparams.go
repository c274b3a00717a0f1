package workload

import "math"

// lublinParams are the constants of one kind of job in the model of U. Lublin and D. Feitelson, The
// Workload on Parallel Supercomputers: Modeling the Characteristics of Rigid Jobs, JPDC 63(11),
// 2003, with the names of the authors' program.
type lublinParams struct {
	serial, pow2   float64 // fractions of jobs of one node, and of a power of two
	low, med, high float64 // exponents of two that bound the sizes, on 128 nodes
	prob           float64 // fraction of exponents between low and med
	a1, b1, a2, b2 float64 // shapes and scales of the two gammas of the run time's logarithm
	pa, pb         float64 // the first gamma's fraction, as a linear function of the number of nodes
	aarr, barr     float64 // the gamma of the logarithm of the time between arrivals
	arar           float64 // factor that stretches the shape, fitted to rush hours, to the day
	anum, bnum     float64 // the gamma of the arrivals over the day, in half hours
}

// The constants for batch jobs, for interactive jobs, and for both together.
var (
	lublinBatch = lublinParams{
		serial: 0.2927, pow2: 0.6686, low: 1.2, med: 5, high: 7, prob: 0.875,
		a1: 6.57, b1: 0.823, a2: 639.1, b2: 0.0156, pa: -0.003, pb: 0.6986,
		aarr: 6.0415, barr: 0.8531, anum: 6.1271, bnum: 5.2740, arar: 1.0519,
	}
	lublinInteractive = lublinParams{
		serial: 0.1541, pow2: 0.625, low: 1, med: 3, high: 5.5, prob: 0.705,
		a1: 3.8351, b1: 0.6605, a2: 7.073, b2: 0.6856, pa: -0.0118, pb: 0.9156,
		aarr: 6.5510, barr: 0.6621, anum: 8.9186, bnum: 3.6680, arar: 0.9797,
	}
	lublinWhole = lublinParams{
		serial: 0.244, pow2: 0.576, low: 0.8, med: 4.5, high: 7, prob: 0.86,
		a1: 4.2, b1: 0.94, a2: 312, b2: 0.03, pa: -0.0054, pb: 0.78,
		aarr: 10.2303, barr: 0.4871, anum: 8.1737, bnum: 3.9631, arar: 1.0225,
	}
)

const (
	maxRunExponent    = 12 // the draw of a longer run than exp(12) s is repeated
	maxArriveExponent = 13 // likewise for the time between arrivals
	peakShape         = 10.23
	peakScale         = 0.49 // seconds; with peakShape the mean is 5.01 s
)

// sized returns the constants for a system of the given size. The exponents keep their distance from
// the system's exponent, as the authors require (med within high−3.5 … high−1.5), unless the system
// is too small for jobs of several nodes.
func (p lublinParams) sized(nodes int) lublinParams {
	shift := math.Log2(float64(nodes)) - math.Log2(128)
	p.med = max(p.low, p.med+shift)
	p.high = max(p.med, p.high+shift)
	return p
}
