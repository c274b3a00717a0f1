package repeat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/simulate/replicate"
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

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		half, mean, precision float64
		want                  bool
	}{{5.2, 5, 1.1, true}, {5.2, 5, 1, false}, {math.Inf(1), 7, 0.5, false}, {0, 0, 0.01, true}} {
		if got := Within(replicate.Estimate{Mean: c.mean, Half: c.half}, c.precision); got != c.want {
			t.Errorf("%g±%g within %g: %t", c.mean, c.half, c.precision, got)
		}
	}
}
