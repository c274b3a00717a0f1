package evaluate

import (
	"context"
	"sync"
	"sync/atomic"
)

// MinReplications is the least number of replications by which a stop is decided unless a
// report is of something exact: with fewer a variance is hardly known.
const MinReplications = 5

// ahead is how many replications a worker may begin beyond the first that is not done.
const ahead = 4

// Limits bound the number of replications.
type Limits struct {
	Min, Max int // at least 1
	Workers  int // that run replications at once, at least 1
}

// Replicate calls sample for replications 0, 1, … on several workers at once and returns the
// results of the first n, n being the least from limits.Min on for which enough holds, or
// limits.Max. What is returned depends on sample and enough alone: replications that were
// begun beyond the n-th are cancelled and forgotten, and an error counts only if no stop was
// decided before its replication. enough is called in the caller's goroutine, each time one
// more is known.
func Replicate[T any](ctx context.Context, limits Limits, sample Sample[T], enough func(known []T) bool) ([]T, error) {
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

// Sample makes a replication: a function of its number alone, called from any goroutine.
type Sample[T any] func(ctx context.Context, i int) (T, error)

type result[T any] struct {
	i     int
	value T
	err   error
}

// pool is what the workers of one Replicate share.
type pool[T any] struct {
	sample  Sample[T]
	last    int
	next    atomic.Int64
	results chan result[T]
	leave   chan struct{} // holds one for each replication that was begun and not yet taken
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

// collect takes results in the order of their numbers, whatever order they come in.
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
