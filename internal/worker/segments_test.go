package worker

import (
	"errors"
	"testing"
	"testing/synctest"

	"berth/internal/job"
	"berth/internal/mapreduce"
	"berth/internal/wire"
)

// A holder is started again while its output is being fetched from its old address:
// the newer address, told before the fetch fails, must reach a reduce that waits.
func TestNewerPlaceWakesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
		places := newPlaces()
		s := newSegments(nil, &attempt{work: &work{places: places}})
		places.add(&wire.Locate{Map: at, Holder: "a1/1", Addr: "old"})
		first, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan mapreduce.Location, 1)
		go func() {
			loc, err := s.Next(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- loc
		}()
		synctest.Wait()
		places.add(&wire.Locate{Map: at, Holder: "a1/1", Addr: "new"})
		synctest.Wait() // Next has seen it and waits on: it has a location of that map
		s.Bad(first, errors.New("connection refused"))
		if loc := <-got; loc.Addr != "new" {
			t.Errorf("got %+v", loc)
		}
	})
}

// A reduce that comes late asks where an output is now, and does not try where it was.
func TestOldPlacesAreNotTried(t *testing.T) {
	places := newPlaces()
	s := newSegments(&worker{cfg: Config{Node: "a1/0"}}, &attempt{work: &work{places: places}})
	at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
	places.add(&wire.Locate{Map: at, Holder: "a1/1", Addr: "old"})
	old := places.newest(0)
	places.add(&wire.Locate{Map: at, Holder: "a1/2", Addr: "new"})
	loc, err := s.Next(t.Context())
	if err != nil || loc.Addr != "new" {
		t.Errorf("Next returned %+v, %v", loc, err)
	}
	if _, ok, _ := s.next(); ok {
		t.Error("an output is returned twice")
	}
	if _, err := s.Open(t.Context(), old, 0); !errors.Is(err, mapreduce.ErrNotHeld) {
		t.Errorf("the old place is tried: %v", err)
	}
}
