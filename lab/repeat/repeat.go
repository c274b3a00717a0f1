// Package repeat repeats simulations with other random numbers until their means are known well enough:
//
//	runs, err := repeat.Run(ctx, limits, sample, enough)
//
// A result depends on the sample and the limits only, and not on how many workers there are.
package repeat

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"berth/internal/simulate/replicate"
)

// Min is the smallest number of replications after which a study may stop, unless its
// result is exact. With fewer the variance is too uncertain.
const Min = 5

// ahead is the number of replications that each worker may begin beyond the first unfinished one.
const ahead = 4

// Limits bound the number of replications.
type Limits struct {
	Min, Max int // at least 1
	Workers  int // number of simultaneous replications, at least 1
}

// Run calls sample for the replications 0, 1, … on several workers and returns the results of
// the first n. n is the smallest number from limits.Min on for which enough returns true, or
// limits.Max. The result depends only on sample and enough: replications begun beyond the n-th are
// cancelled and discarded, and an error counts only if no stop was decided before its replication.
// Run calls enough in the caller's goroutine, each time one more result is known.
func Run[T any](ctx context.Context, limits Limits, sample Sample[T], enough func(known []T) bool) ([]T, error) {
	p := pool[T]{
		sample: sample, last: limits.Max,
		results: make(chan result[T]), leave: make(chan struct{}, ahead*limits.Workers),
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	for range min(limits.Workers, limits.Max) {
		workers.Go(func() { p.work(inner) })
	}
	return p.collect(ctx, limits, enough)
}

// Sample makes a replication. It must depend on its number only, and be callable from any goroutine.
type Sample[T any] func(ctx context.Context, i int) (T, error)

type result[T any] struct {
	i     int
	value T
	err   error
}

// pool is the shared state of the workers of one Run.
type pool[T any] struct {
	sample  Sample[T]
	last    int
	next    atomic.Int64
	results chan result[T]
	leave   chan struct{} // one element for each replication that was begun and not yet collected
}

func (p *pool[T]) work(ctx context.Context) {
	for {
		select {
		case p.leave <- struct{}{}:
		case <-ctx.Done():
			return
		}
		i := int(p.next.Add(1)) - 1
		if i >= p.last {
			return
		}
		v, err := p.sample(ctx, i)
		select {
		case p.results <- result[T]{i, v, err}:
		case <-ctx.Done():
			return
		}
	}
}

// collect receives the results and orders them by their numbers.
func (p *pool[T]) collect(ctx context.Context, limits Limits, enough func([]T) bool) ([]T, error) {
	var known []T
	early := map[int]result[T]{}
	for len(known) < limits.Max {
		r, ok := early[len(known)]
		if !ok {
			select {
			case r = <-p.results:
				early[r.i] = r
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			continue
		}
		if r.err != nil {
			return nil, r.err
		}
		delete(early, r.i)
		<-p.leave
		known = append(known, r.value)
		if enough(known) && len(known) >= limits.Min {
			break
		}
	}
	return known, nil
}

// Within reports whether the half-width of an estimate is at most a fraction of the mean.
func Within(e replicate.Estimate, precision float64) bool { return Relative(e) <= precision }

// Relative returns the half-width as a fraction of the mean, or 0 if both are 0.
func Relative(e replicate.Estimate) float64 {
	if e.Half == 0 {
		return 0
	}
	return e.Half / math.Abs(e.Mean)
}
