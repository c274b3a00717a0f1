package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"berth/internal/core/predict/sample"
	"berth/internal/simulate/replicate"
)

// byLeastSquares estimates the mean by solving the full linear model. With controls less their means
// over the pilots the mean is the intercept, and the variance of the mean is that of the intercept.
func byLeastSquares(values []float64, rows [][]float64, sums []float64, pilots int) (mean, half float64) {
	n, q := len(rows), len(sums)
	x := mat.NewDense(n, q+1, nil)
	for i, row := range rows {
		x.Set(i, 0, 1)
		for k := range row {
			x.Set(i, k+1, row[k]-sums[k]/float64(pilots))
		}
	}
	var normal, inverse, slopes, fit mat.Dense
	normal.Mul(x.T(), x)
	if err := inverse.Inverse(&normal); err != nil {
		return math.NaN(), math.NaN()
	}
	y := mat.NewVecDense(n, values)
	slopes.Mul(x.T(), y)
	slopes.Mul(&inverse, &slopes)
	fit.Mul(x, &slopes)
	rest, explained, average := 0.0, 0.0, mat.Sum(y)/float64(n)
	for i, v := range values {
		rest += (v - fit.At(i, 0)) * (v - fit.At(i, 0))
		explained += (fit.At(i, 0) - average) * (fit.At(i, 0) - average)
	}
	variance := rest/float64(n-1-q)*inverse.At(0, 0) + explained/float64(n-1)/float64(pilots)
	return slopes.At(0, 0), sample.StudentsT(n-1-q) * math.Sqrt(variance)
}

// TestControlsAreLeastSquares checks that the estimate equals that of the linear model.
func TestControlsAreLeastSquares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n, q := rapid.IntRange(8, 60).Draw(t, "n"), rapid.IntRange(0, 4).Draw(t, "controls")
		many := rapid.IntRange(1, 50).Draw(t, "pilots") * n
		rows, sums, values := draws(rng, n, q, many, 1)
		e := newControls(rows, sums, many).mean(values)
		mean, half := byLeastSquares(values, rows, sums, many)
		if math.Abs(e.Mean-mean) > 1e-6*half || math.Abs(e.Half-half) > 1e-6*half || e.N != n {
			t.Fatalf("%+v, want %g ± %g of %d", e, mean, half, n)
		}
	})
}

// draws returns controls of replications, the sums of the pilots' controls, and values that depend
// on the controls except for noise. The mean of the values is 100.
func draws(rng *rand.Rand, n, q, pilots int, noise float64) (rows [][]float64, sums, values []float64) {
	row := func() []float64 {
		r, last := make([]float64, q), 0.0
		for k := range r {
			last = 0.5*last + rng.NormFloat64() // each depends on the one before
			r[k] = 10 + last
		}
		return r
	}
	sums = make([]float64, q)
	for range n {
		r := row()
		value := 100 + noise*rng.NormFloat64()
		for k := range r {
			value += float64(k+1) * (r[k] - 10)
		}
		rows, values = append(rows, r), append(values, value)
	}
	for range pilots {
		for k, v := range row() {
			sums[k] += v
		}
	}
	return rows, sums, values
}

// TestControlsCover checks that the intervals contain the mean with the given confidence and are
// narrower than plain ones, whether pilots or replications are few.
func TestControlsCover(t *testing.T) {
	for _, test := range []struct {
		name           string
		n, pilots      int
		noise, narrows float64
	}{
		{"replications leave most of the doubt", 25, 750, 1, 3},
		{"pilots do", 40, 80, 0.01, 1.2},
		{"controls explain nothing", 30, 900, 100, 0.9},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			const tries = 4000
			held, half, plainHalf := 0, 0.0, 0.0
			for range tries {
				rows, sums, values := draws(rng, test.n, 3, test.pilots, test.noise)
				e := newControls(rows, sums, test.pilots).mean(values)
				if math.Abs(e.Mean-100) <= e.Half {
					held++
				}
				half += e.Half
				plainHalf += replicate.Mean(values).Half
			}
			share := float64(held) / tries
			t.Logf("%.1f %% hold the mean; %.2f times as narrow as plain ones", 100*share, plainHalf/half)
			if math.Abs(share-sample.Confidence) > 4*math.Sqrt(sample.Confidence*(1-sample.Confidence)/tries) {
				t.Errorf("%.1f %% of intervals hold the mean, not %.0f %%", 100*share, 100*sample.Confidence)
			}
			if plainHalf/half < test.narrows {
				t.Errorf("intervals are %.2f times as narrow as plain ones, not %g", plainHalf/half, test.narrows)
			}
		})
	}
}

// TestControlsOfNoUse checks that controls that are constant or follow from others change nothing.
func TestControlsOfNoUse(t *testing.T) {
	rows, sums, values := draws(rand.New(rand.NewPCG(3, 4)), 30, 2, 900, 1)
	want := newControls(rows, sums, 900).mean(values)
	for i, r := range rows {
		rows[i] = []float64{7e9, r[0], 2*r[0] - 3, 0, r[1], r[0] + r[1]}
	}
	got := newControls(rows, []float64{7e9 * 900, sums[0], 2*sums[0] - 3*900, 0, sums[1], sums[0] + sums[1]}, 900).mean(values)
	if math.Abs(got.Mean-want.Mean) > 1e-9 || math.Abs(got.Half-want.Half) > 1e-9 {
		t.Errorf("%+v, without them %+v", got, want)
	}
}

// TestControlsOfFew checks that too few replications for a regression give plain means.
func TestControlsOfFew(t *testing.T) {
	rows, sums, values := draws(rand.New(rand.NewPCG(5, 6)), 3, 2, 90, 1)
	if got := newControls(rows, sums, 90).mean(values); got != replicate.Mean(values) {
		t.Errorf("%+v of three replications and two controls, plain is %+v", got, replicate.Mean(values))
	}
}
