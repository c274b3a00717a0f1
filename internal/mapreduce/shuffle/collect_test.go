package shuffle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"

	"berth/internal/core/job"
)

// A node is restarted while its output is being fetched from its old address. The newer address, which is
// reported before the fetch fails, must reach a reduce that waits.
func TestNewerLocationIsTried(t *testing.T) {
	at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
	locations := NewLocations()
	s := NewCollector(Config{Source: Source{Node: &Node{}, Locations: locations}, Maps: 1})
	locations.Add(Location{Attempt: at, Holder: "a1/1", Addr: "old"})
	first, err := s.await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	locations.Add(Location{Attempt: at, Holder: "a1/1", Addr: "new"})
	if _, ok, _ := s.next(); ok { // it was read and skipped, as another location of the map is being tried
		t.Error("two locations of a map are tried at once")
	}
	s.giveUp(first, errors.New("connection refused"))
	if loc, err := s.await(t.Context()); err != nil || loc.Addr != "new" {
		t.Errorf("got %+v, %v", loc, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.await(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A reduce that starts late fetches from the newest location and does not try older ones.
func TestOldLocationsAreNotTried(t *testing.T) {
	locations := NewLocations()
	s := NewCollector(Config{Source: Source{Node: &Node{id: "a1/0"}, Locations: locations}, Maps: 1})
	at := job.Attempt{Job: "mr-1", Task: 0, N: 1}
	locations.Add(Location{Attempt: at, Holder: "a1/1", Addr: "old"})
	old := locations.newest(0)
	locations.Add(Location{Attempt: at, Holder: "a1/2", Addr: "new"})
	loc, ok, _ := s.next()
	if !ok || loc.Addr != "new" {
		t.Errorf("got %+v", loc)
	}
	if _, ok, _ := s.next(); ok {
		t.Error("an output is returned twice")
	}
	if err := (&copier{Collector: s}).fetch(t.Context(), old); !errors.Is(err, ErrNotHeld) {
		t.Errorf("the old location is tried: %v", err)
	}
}

// Each location is returned once, and a newer one after the older one was discarded.
func TestCollectorFollowsLocations(t *testing.T) {
	at := func(task, n int) job.Attempt { return job.Attempt{Job: "mr-1", Task: task, N: n} }
	locations, lost := NewLocations(), 0
	node := &Node{id: "a1/0", log: slog.New(slog.DiscardHandler)}
	s := NewCollector(Config{Source: Source{Node: node, Locations: locations, Lost: func(Location, error) { lost++ }}, Maps: 2})
	tell := func(task, n int, addr string) {
		locations.Add(Location{Attempt: at(task, n), Holder: "a1/1", Addr: addr})
	}
	var got []string
	drain := func() {
		for {
			loc, ok, _ := s.next()
			if !ok {
				return
			}
			got = append(got, fmt.Sprintf("%d.%d@%s", loc.Attempt.Task, loc.Attempt.N, loc.Addr))
		}
	}
	tell(0, 1, "x")
	tell(1, 1, "x")
	tell(0, 1, "x") // added twice
	drain()
	s.giveUp(Location{Attempt: at(0, 1), Holder: "a1/1", Addr: "x"}, os.ErrClosed)
	drain()
	tell(0, 1, "y")
	drain()
	tell(1, 2, "y") // not needed yet
	drain()
	s.giveUp(Location{Attempt: at(1, 1), Holder: "a1/1", Addr: "x"}, os.ErrClosed)
	drain()
	if want := []string{"0.1@x", "1.1@x", "0.1@y", "1.2@y"}; !slices.Equal(got, want) {
		t.Errorf("returned %v, want %v", got, want)
	}
	if lost != 1 {
		t.Errorf("told of %d that are lost, want 1", lost)
	}
}
