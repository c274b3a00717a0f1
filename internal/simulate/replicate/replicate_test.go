package replicate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestRunStopsAtTheFirst checks that the result is the shortest sufficient prefix, for any
// number of workers and any order of completion.
func TestRunStopsAtTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 40).Draw(t, "values")
		limits := Limits{Min: rapid.IntRange(1, len(values)).Draw(t, "min"), Max: len(values), Workers: rapid.IntRange(1, 9).Draw(t, "workers")}
		goal := rapid.IntRange(0, 100).Draw(t, "goal")
		fails := rapid.IntRange(0, 50).Draw(t, "fails")
		sum := func(known []int) int {
			s := 0
			for _, v := range known {
				s += v
			}
			return s
		}
		sample := func(_ context.Context, i int) (int, error) {
			for range values[i] {
				runtime.Gosched() // so that they end in another order
			}
			if i == fails {
				return 0, fmt.Errorf("replication %d", i)
			}
			return values[i], nil
		}
		got, err := Run(t.Context(), limits, sample, func(known []int) bool { return sum(known) >= goal })
		want := limits.Min
		for want < len(values) && sum(values[:want]) < goal {
			want++
		}
		switch {
		case fails < want:
			if err == nil || err.Error() != fmt.Sprintf("replication %d", fails) {
				t.Fatalf("error %v, want that of replication %d", err, fails)
			}
		case err != nil:
			t.Fatal(err)
		case !slices.Equal(got, values[:want]):
			t.Fatalf("got %v, want %v", got, values[:want])
		}
	})
}

// TestRunIsNotFarAhead checks that the other workers wait while one replication is slow.
func TestRunIsNotFarAhead(t *testing.T) {
	var began atomic.Int64
	hold := make(chan struct{})
	const workers = 3
	sample := func(_ context.Context, i int) (int, error) {
		if began.Add(1) == ahead*workers {
			close(hold) // as far as they get without the first
		}
		if i == 0 {
			<-hold
			if n := began.Load(); n > ahead*workers {
				t.Errorf("%d were begun while the first ran", n)
			}
		}
		return i, nil
	}
	got, err := Run(t.Context(), Limits{Min: 1, Max: 1000, Workers: workers}, sample, func(known []int) bool { return len(known) == 500 })
	if err != nil || len(got) != 500 {
		t.Fatalf("%d replications, %v", len(got), err)
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sample := func(ctx context.Context, i int) (int, error) {
		if i == 7 {
			cancel()
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return i, nil
	}
	_, err := Run(ctx, Limits{Min: 1, Max: 100, Workers: 2}, sample, func([]int) bool { return false })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

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

// TestStudentsTAsElsewhere compares with a library.
func TestStudentsTAsElsewhere(t *testing.T) {
	for free := 1; free < 1000; free++ {
		want := distuv.StudentsT{Sigma: 1, Nu: float64(free)}.Quantile((1 + Confidence) / 2)
		if got := StudentsT(free); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%d degrees of freedom: %v, want %v", free, got, want)
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
	if !e.Within(1.1) || e.Within(1) {
		t.Errorf("%g of the mean", e.Relative())
	}
	if e := Mean([]float64{nan}); e.N != 0 || !math.IsNaN(e.Mean) {
		t.Errorf("of nothing: %+v", e)
	}
	if e := Mean([]float64{7}); !math.IsInf(e.Half, 1) || e.Within(0.5) {
		t.Errorf("of one: %+v", e)
	}
	if e := Mean([]float64{0, 0}); !e.Within(0.01) {
		t.Errorf("of zeros: %+v", e)
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
