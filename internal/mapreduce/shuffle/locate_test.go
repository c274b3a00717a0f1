package shuffle

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"berth/internal/job"
)

// A holder is started again while its output is being fetched from its old address:
// the newer address, told before the fetch fails, must reach a reduce that waits.
func TestNewerPlaceWakesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
		places := NewPlaces()
		s := (&Node{}).Segments(job.Attempt{}, places, nil)
		places.Add(Location{Map: at, Holder: "a1/1", Addr: "old"})
		first, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan Location, 1)
		go func() {
			loc, err := s.Next(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- loc
		}()
		synctest.Wait()
		places.Add(Location{Map: at, Holder: "a1/1", Addr: "new"})
		synctest.Wait() // Next has seen it and waits on: it has a location of that map
		s.Bad(first, errors.New("connection refused"))
		if loc := <-got; loc.Addr != "new" {
			t.Errorf("got %+v", loc)
		}
	})
}

// A reduce that comes late asks where an output is now, and does not try where it was.
func TestOldPlacesAreNotTried(t *testing.T) {
	places := NewPlaces()
	s := (&Node{id: "a1/0"}).Segments(job.Attempt{}, places, nil).(*segments)
	at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
	places.Add(Location{Map: at, Holder: "a1/1", Addr: "old"})
	old := places.newest(0)
	places.Add(Location{Map: at, Holder: "a1/2", Addr: "new"})
	loc, err := s.Next(t.Context())
	if err != nil || loc.Addr != "new" {
		t.Errorf("Next returned %+v, %v", loc, err)
	}
	if _, ok, _ := s.next(); ok {
		t.Error("an output is returned twice")
	}
	if _, err := s.Open(t.Context(), old, 0); !errors.Is(err, ErrNotHeld) {
		t.Errorf("the old place is tried: %v", err)
	}
}

// Each location is returned once, a newer one after the older was called bad.
func TestSegmentsFollowPlaces(t *testing.T) {
	at := func(task, n int) job.Attempt { return job.Attempt{Job: "mr-1", Task: task, N: n} }
	places, lost := NewPlaces(), 0
	node := &Node{id: "a1/0", log: slog.New(slog.DiscardHandler)}
	s := node.Segments(at(9, 1), places, func(Location, error) { lost++ }).(*segments)
	tell := func(task, n int, addr string) []job.Attempt {
		return places.Add(Location{Map: at(task, n), Holder: "a1/1", Addr: addr})
	}
	var got []string
	drain := func() {
		for {
			loc, ok, _ := s.next()
			if !ok {
				return
			}
			got = append(got, fmt.Sprintf("%d.%d@%s", loc.Map.Task, loc.Map.N, loc.Addr))
		}
	}
	tell(0, 1, "x")
	tell(1, 1, "x")
	tell(0, 1, "x") // told twice
	drain()
	bad := Location{Map: at(0, 1), Holder: "a1/1", Addr: "x"}
	s.Bad(bad, os.ErrClosed)
	s.Bad(bad, os.ErrClosed) // called bad twice
	drain()
	if replaced := tell(0, 1, "y"); !slices.Equal(replaced, []job.Attempt{at(0, 1)}) {
		t.Errorf("replaced %v", replaced)
	}
	drain()
	tell(1, 2, "y") // not wanted yet
	drain()
	s.Bad(Location{Map: at(1, 1), Holder: "a1/1", Addr: "x"}, os.ErrClosed)
	drain()
	if want := []string{"0.1@x", "1.1@x", "0.1@y", "1.2@y"}; !slices.Equal(got, want) {
		t.Errorf("returned %v, want %v", got, want)
	}
	if lost != 1 {
		t.Errorf("told of %d that are lost, want 1", lost)
	}
}
