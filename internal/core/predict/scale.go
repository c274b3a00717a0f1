package predict

// invariant returns the measure's mean and maximum for tasks with growth times the input of the measured ones. The
// model scales with the number of tasks, which holds only for tasks of one size; but reduces grow with the input, and
// a small input is cut into small splits.
func (m *Measure) invariant(growth float64) Invariant {
	low, up := m.scale(growth)
	mean := m.Time.Mean()
	return Invariant{Low: mean * low, Avg: mean * up, Max: m.Time.Max * up, Sketch: &m.Time, Scale: up}
}

// scale returns the factors of the measured times for tasks with growth times the input. Where the measured tasks
// show how time depends on size, that line gives both factors (least squares, as ARIA scales its reduce phases with
// the data). Otherwise time is assumed to lie between constant and proportional to size: the lower factor is for the
// lower bound, the upper one for the upper.
func (m *Measure) scale(growth float64) (low, up float64) {
	if fixed, perByte, ok := m.line(); ok {
		mean := float64(m.BytesIn) / float64(m.Time.Count)
		f := (fixed + perByte*mean*growth) / (fixed + perByte*mean)
		return f, f
	}
	return min(1, growth), max(1, growth)
}

const (
	lineSamples = 4    // fewest samples that a line is drawn through
	lineSpread  = 0.05 // least standard deviation of sizes, as a fraction of their mean
	lineFit     = 0.5  // least coefficient of determination, R²
)

// line fits seconds = fixed + perByte·bytes by least squares. It returns false where sizes hardly differ or explain
// less than half of the variance of the times. Neither coefficient is negative.
func (m *Measure) line() (fixed, perByte float64, ok bool) {
	n := float64(m.Time.Count)
	if n < lineSamples {
		return 0, 0, false
	}
	x, y := float64(m.BytesIn)/n, m.Time.Mean()
	sxx, sxy, syy := m.InSq-n*x*x, m.InTime-n*x*y, m.Time.SumSq-n*y*y
	if sxx < lineSpread*lineSpread*n*x*x || sxy <= 0 || syy <= 0 || sxy*sxy < lineFit*sxx*syy {
		return 0, 0, false
	}
	perByte = sxy / sxx
	if fixed = y - perByte*x; fixed < 0 {
		return 0, y / x, true
	}
	return fixed, perByte, true
}
