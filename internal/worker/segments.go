package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"berth/internal/mapreduce"
	"berth/internal/process"
	"berth/internal/wire"
)

// segments finds the map outputs for one reduce attempt (mapreduce.Segments).
type segments struct {
	w *worker
	a *attempt

	mu    sync.Mutex
	read  int                        // locations of the job's list that were looked at
	good  map[int]mapreduce.Location // by map task: what Next returned and nobody called bad
	again []mapreduce.Location       // newer locations of outputs that were bad
	woken chan struct{}              // holds a token when again grew
}

func newSegments(w *worker, a *attempt) *segments {
	return &segments{w: w, a: a, good: make(map[int]mapreduce.Location), woken: make(chan struct{}, 1)}
}

// Next blocks until there is a location that the reduce has not tried.
func (s *segments) Next(ctx context.Context) (mapreduce.Location, error) {
	for {
		loc, ok, more := s.next()
		if ok {
			return loc, nil
		}
		select {
		case <-more:
		case <-s.woken:
		case <-ctx.Done():
			return mapreduce.Location{}, context.Cause(ctx)
		}
	}
}

func (s *segments) next() (loc mapreduce.Location, ok bool, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.again); n > 0 {
		loc, s.again = s.again[n-1], s.again[:n-1]
		s.good[loc.Map.Task] = loc
		return loc, true, nil
	}
	list, more := s.a.work.places.from(s.read)
	for _, loc := range list {
		s.read++
		if _, has := s.good[loc.Map.Task]; !has {
			loc = s.a.work.places.newest(loc.Map.Task) // where it was once, nobody may answer any more
			s.good[loc.Map.Task] = loc
			return loc, true, nil
		}
	}
	return mapreduce.Location{}, false, more
}

// Bad has the coordinator told, once for all reduces of the node, that the output
// cannot be had. If it has said meanwhile where another copy is, Next returns that.
func (s *segments) Bad(loc mapreduce.Location, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good[loc.Map.Task] != loc {
		return // it was called bad before
	}
	delete(s.good, loc.Map.Task)
	places := s.a.work.places
	if newer := places.newest(loc.Map.Task); newer != loc {
		s.again = append(s.again, newer)
		select {
		case s.woken <- struct{}{}:
		default: // it is on its way already
		}
		return
	}
	if loc.Holder == s.w.cfg.Node {
		if rerr := s.w.shuffle.outputs.Remove(loc.Map); rerr != nil { // else the next hello would offer it again
			s.w.log.Warn("damaged map output stays", "map", loc.Map, "err", rerr)
		}
	}
	s.w.log.Warn("map output cannot be used", "map", loc.Map, "holder", loc.Holder, "by", s.a.id, "err", err)
	if places.missing(loc.Map) {
		s.w.link.want(wish{wire.KindFetchFailed, loc.Map},
			&wire.FetchFailed{By: s.a.id, Map: loc.Map, Addr: loc.Addr, Reason: process.OneLine(err.Error())})
	}
}

// Open opens a partition of a map output, in place where this node can read the folder
// that it is in. No other is asked for where it was before it was told to be elsewhere:
// each try at a holder that hangs takes long.
func (s *segments) Open(ctx context.Context, loc mapreduce.Location, partition int) (mapreduce.Segment, error) {
	if loc.Holder == s.w.cfg.Node {
		return s.w.shuffle.outputs.Open(loc.Map, partition)
	}
	if newer := s.a.work.places.newest(loc.Map.Task); newer != loc {
		return mapreduce.Segment{}, fmt.Errorf("%v at %s: %w: there is a newer one at %s", loc.Map, loc.Addr, mapreduce.ErrNotHeld, newer.Addr)
	}
	if loc.Outputs != "" {
		return openShared(loc, partition)
	}
	return s.w.shuffle.fetch(ctx, loc, partition)
}

// openShared opens an output in another node's folder. One that is not there is looked for
// again by who asked: it was written before it was told of, but a network file system may
// answer from its cache.
func openShared(loc mapreduce.Location, partition int) (mapreduce.Segment, error) {
	seg, err := mapreduce.OutputsIn(loc.Outputs).Open(loc.Map, partition)
	if errors.Is(err, mapreduce.ErrNotHeld) {
		err = fmt.Errorf("no output of %v in %s", loc.Map, loc.Outputs)
	}
	return seg, err
}

var _ mapreduce.Segments = (*segments)(nil)
