package paired

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOf: the interval contains the median, a clear difference is told from none, noise and few pairs are not, and the same
// values give the same interval in any order.
func TestOf(t *testing.T) {
	clear := []float64{-0.2, -0.25, -0.3, -0.22, -0.28, -0.24}
	d := Of(clear)
	if !d.Distinct() || d.Low > d.Median || d.High < d.Median || d.Low < -0.3 || d.High > -0.2 {
		t.Errorf("a clear gain is %+v", d)
	}
	if again := Of([]float64{-0.24, -0.2, -0.25, -0.3, -0.22, -0.28}); again != d {
		t.Errorf("in another order it is %+v", again)
	}
	if got := d.String(); !strings.HasPrefix(got, "−24 % (−") || strings.Contains(got, "nothing") {
		t.Errorf("it is written as %q", got)
	}
	for _, unclear := range [][]float64{{-0.1, 0.2, -0.05, 0.1, 0, 0.02, -0.03}, clear[:5], clear[:1]} {
		if d := Of(unclear); d.Distinct() || !strings.Contains(d.String(), "not distinguishable from nothing") {
			t.Errorf("%v is %v", unclear, d)
		}
	}
	if got := Of(nil).String(); got != "not run" {
		t.Errorf("without pairs it says %q", got)
	}
}

// TestCoverage: of many sets of ten differences whose true median is none, about one in twenty is told from none, and not
// many more.
func TestCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	wrong := 0
	const sets = 100
	for range sets {
		values := make([]float64, 10)
		for i := range values {
			values[i] = random.NormFloat64()
		}
		if Of(values).Distinct() {
			wrong++
		}
	}
	if wrong > sets/10 {
		t.Errorf("%d of %d sets without a difference have one", wrong, sets)
	}
}
