package replicate

import (
	"math"
	"testing"
)

// TestStudentsT compares half-widths with tables of Student's t at 97.5 %.
func TestStudentsT(t *testing.T) {
	for n, want := range map[int]float64{2: 12.7062, 5: 2.7764, 10: 2.2622, 31: 2.0423, 121: 1.9799} {
		values := make([]float64, n) // of variance 1, so that the half-width is t/√n
		if n%2 == 1 {
			for i := range n / 2 {
				values[2*i], values[2*i+1] = 1, -1
			}
		} else {
			for i := range n / 2 {
				values[2*i], values[2*i+1] = math.Sqrt(float64(n-1)/float64(n)), -math.Sqrt(float64(n-1)/float64(n))
			}
		}
		e := Mean(values)
		if got := e.Half * math.Sqrt(float64(n)); math.Abs(got-want) > 5e-5*want || e.N != n || math.Abs(e.Mean) > 1e-12 {
			t.Errorf("n = %d: t = %.4f, want %.4f (mean %g)", n, got, want, e.Mean)
		}
	}
}

func TestMean(t *testing.T) {
	nan := math.NaN()
	// Mean 5, variance 32/3, t(3) = 3.1824: half-width 3.1824·√(32/3/4).
	e := Mean([]float64{1, nan, 5, 9, 5, nan})
	if e.N != 4 || e.Mean != 5 || math.Abs(e.Half-3.182446*math.Sqrt(32.0/12)) > 1e-5 {
		t.Errorf("%+v", e)
	}
	if e := Mean([]float64{nan}); e.N != 0 || !math.IsNaN(e.Mean) {
		t.Errorf("of nothing: %+v", e)
	}
	if e := Mean([]float64{7}); !math.IsInf(e.Half, 1) {
		t.Errorf("of one: %+v", e)
	}
}

// TestReductionIsPaired checks that what replications have in common does not widen the interval.
func TestReductionIsPaired(t *testing.T) {
	base := []float64{100, 900, 200, 4000, math.NaN(), 50}
	values := []float64{60, 540, 120, 2400, 7, 30}
	if e := Reduction(values, base, Mean); math.Abs(e.Mean-0.4) > 1e-12 || e.Half > 1e-9 || e.N != 5 {
		t.Errorf("a share of each: %+v", e)
	}
	// Ratio 0.5; residuals 10, −10, so a half-width of 12.7062·10·√2/√2 of a base of 100.
	if e := Reduction([]float64{60, 40}, []float64{100, 100}, Mean); math.Abs(e.Mean-0.5) > 1e-12 || math.Abs(e.Half-1.27062) > 1e-4 {
		t.Errorf("two: %+v", e)
	}
	if e := Reduction([]float64{1}, []float64{0}, Mean); !math.IsNaN(e.Mean) {
		t.Errorf("of nothing: %+v", e)
	}
}
