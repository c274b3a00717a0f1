package ec2

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// TestHire checks that an allocation starts with the requested machines, and that Hire rents further ones of a type up to its limit. A machine that is given back ends, and its rank can
// get another. A rank whose machine the user has stopped gets none.
func TestHire(t *testing.T) {
	hour := job.Time(time.Hour)
	rent := job.Rent{Machines: []job.Rented{{Name: "a", Count: 2, More: 2, Price: 3600, Unit: 1}, {Name: "b", Count: 1, More: 1, Price: 3600, Unit: 1}}}
	l := newLedger("a1", rent)
	d := &Driver{outbox: driver.NewOutbox(nil), rentals: map[job.AllocID]*rental{}, s: driver.Setup{Wall: func() job.Time { return hour.Add(100 * time.Second) }, Log: slog.New(slog.DiscardHandler)}}
	d.rentals["a1"] = &rental{d: d, dir: t.TempDir(), ledger: l, wake: make(chan struct{}, 1)}
	tokens := 0
	ranks := func() (all []int) {
		for _, o := range l.wants(hour, 0, func() string { tokens++; return strings.Repeat("t", tokens) }) {
			all = append(all, o.Ranks...)
			for _, r := range o.Ranks {
				l.Machines = append(l.Machines, machine{ID: o.Token + string(rune('0'+r)), Kind: o.Kind, Rank: r, Order: o.Token, Since: hour, Up: hour + 1})
			}
		}
		l.Orders = nil
		return all
	}
	same := func(what string, got []int, want ...int) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: ranks %v, want %v", what, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s: ranks %v, want %v", what, got, want)
			}
		}
	}
	same("at first", ranks(), 0, 1, 2)
	if all, gone := d.Machines("a1"); len(all) != 3 || gone != 0 || !all[0].Up || all[2].Kind != 1 {
		t.Errorf("%+v, %g", all, gone)
	}
	d.Rent("a1", 0, 1)
	if all, _ := d.Machines("a1"); len(all) != 4 || all[3].Node != "a1/3" || all[3].Up {
		t.Errorf("%+v", all)
	}
	same("one more of the first type", ranks(), 3)
	d.Rent("a1", 1, 5)
	same("more of the second than there may be", ranks(), 5)
	d.GiveBack("a1", "a1/1", "it has no task")
	if all, gone := d.Machines("a1"); len(all) != 4 || gone != 100 {
		t.Errorf("%+v, %g", all, gone)
	}
	ended := l.ends(hour, 0)
	if len(ended) != 1 || ended[0].Rank != 1 || ended[0].Why != "it was given back: it has no task" || l.reasons() == "" {
		t.Fatalf("%+v", ended)
	}
	ended[0].Ended = hour + 1
	same("nothing replaces it", ranks())
	l.Gone[0] = "it was stopped by hand"
	l.Machines[0].Ended = hour + 1
	d.Rent("a1", 0, 9)
	same("all that may be had of the first type", ranks(), 1, 4)
}

// TestOwner checks that requests which come at the same time give all machines one owner.
func TestOwner(t *testing.T) {
	d := newDriver(driver.Setup{}, t.TempDir(), t.TempDir())
	owners := make(chan string)
	const requests = 20
	for range requests {
		go func() {
			if err := d.own(); err != nil {
				t.Error(err)
			}
			owners <- d.owner
		}()
	}
	for range requests {
		if got := <-owners; got == "" || got != d.owner {
			t.Errorf("owner %q, then %q", got, d.owner)
		}
	}
}
