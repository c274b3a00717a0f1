package shuffle

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"berth/internal/job"
)

// segments finds the map outputs for one reduce attempt (Segments).
type segments struct {
	node   *Node
	by     job.Attempt
	places *Places
	lost   func(loc Location, err error)

	mu    sync.Mutex
	read  int              // locations of the job's list that were looked at
	good  map[int]Location // by map task: what Next returned and nobody called bad
	again []Location       // newer locations of outputs that were bad
	woken chan struct{}    // holds a token when again grew
}

// Segments finds the map outputs for the reduce attempt by. lost is called when one cannot be had,
// once for all reduces that share the places.
func (n *Node) Segments(by job.Attempt, places *Places, lost func(loc Location, err error)) Segments {
	return &segments{node: n, by: by, places: places, lost: lost, good: make(map[int]Location), woken: make(chan struct{}, 1)}
}

// Next blocks until there is a location that the reduce has not tried.
func (s *segments) Next(ctx context.Context) (Location, error) {
	for {
		loc, ok, more := s.next()
		if ok {
			return loc, nil
		}
		select {
		case <-more:
		case <-s.woken:
		case <-ctx.Done():
			return Location{}, context.Cause(ctx)
		}
	}
}

func (s *segments) next() (loc Location, ok bool, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.again); n > 0 {
		loc, s.again = s.again[n-1], s.again[:n-1]
		s.good[loc.Map.Task] = loc
		return loc, true, nil
	}
	list, more := s.places.from(s.read)
	for _, loc := range list {
		s.read++
		if _, has := s.good[loc.Map.Task]; !has {
			loc = s.places.newest(loc.Map.Task) // where it was once, nobody may answer any more
			s.good[loc.Map.Task] = loc
			return loc, true, nil
		}
	}
	return Location{}, false, more
}

// Bad tells, once for all reduces of the node, that the output cannot be had. If it is known
// meanwhile where another copy is, Next returns that.
func (s *segments) Bad(loc Location, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good[loc.Map.Task] != loc {
		return // it was called bad before
	}
	delete(s.good, loc.Map.Task)
	if newer := s.places.newest(loc.Map.Task); newer != loc {
		s.again = append(s.again, newer)
		select {
		case s.woken <- struct{}{}:
		default: // it is on its way already
		}
		return
	}
	if loc.Holder == s.node.id {
		if rerr := s.node.Store.Remove(loc.Map); rerr != nil { // else the next hello would offer it again
			s.node.log.Warn("damaged map output stays", "map", loc.Map, "err", rerr)
		}
	}
	s.node.log.Warn("map output cannot be used", "map", loc.Map, "holder", loc.Holder, "by", s.by, "err", err)
	if s.places.missing(loc.Map) {
		s.lost(loc, err)
	}
}

// Open opens a partition of a map output, in place where this node can read the folder
// that it is in. No other is asked for where it was before it was told to be elsewhere:
// each try at a holder that hangs takes long.
func (s *segments) Open(ctx context.Context, loc Location, partition int) (Segment, error) {
	if loc.Holder == s.node.id {
		return s.node.Store.Open(loc.Map, partition)
	}
	if newer := s.places.newest(loc.Map.Task); newer != loc {
		return Segment{}, fmt.Errorf("%v at %s: %w: there is a newer one at %s", loc.Map, loc.Addr, ErrNotHeld, newer.Addr)
	}
	if loc.Outputs != "" {
		return openShared(loc, partition)
	}
	return s.node.fetch(ctx, loc, partition)
}

// openShared opens an output in another node's folder. One that is not there is looked for
// again by who asked: it was written before it was told of, but a network file system may
// answer from its cache.
func openShared(loc Location, partition int) (Segment, error) {
	seg, err := StoreIn(loc.Outputs).Open(loc.Map, partition)
	if errors.Is(err, ErrNotHeld) {
		err = fmt.Errorf("no output of %v in %s", loc.Map, loc.Outputs)
	}
	return seg, err
}
