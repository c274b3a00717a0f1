package starts

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

const minute = job.Time(time.Minute)

// TestObserve: of a queue that is looked at every minute all arrivals of others are known to the minute and all run times of jobs
// that were seen to run to a minute. After a long gap only the run times count that the gap leaves known, and arrivals anew.
func TestObserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		type real struct {
			Seen
			submit, end job.Time
		}
		var jobs []real
		for i := range 60 {
			j := real{submit: job.Time(1+rng.IntN(5*3600)) * 1e9}
			j.Seen = Seen{ID: fmt.Sprint(i), Array: fmt.Sprint(i), Job: Job{User: int32(i), Nodes: 1, Limit: 5 * time.Hour}, Own: i%5 == 0}
			j.Start = j.submit + job.Time(rng.IntN(3600))*1e9
			j.end = j.Start + job.Time(180+rng.IntN(5*3600-180))*1e9
			jobs = append(jobs, j)
		}
		at := func(now job.Time) (seen []Seen) {
			for _, j := range jobs {
				if j.submit > now || j.end <= now {
					continue
				}
				if j.Start > now {
					j.Start = 0
				}
				seen = append(seen, j.Seen)
			}
			return seen
		}
		h := &History{}
		last := 12 * 60 * minute
		for now := minute; now <= last; now += minute {
			h.Observe(now, at(now))
		}
		if len(h.Ended) != len(jobs) || len(h.Present) != 0 || h.Since != minute {
			t.Fatalf("%d of %d jobs have ended, %d are there, arrivals since %v", len(h.Ended), len(jobs), len(h.Present), h.Since)
		}
		for _, e := range h.Ended {
			if j := jobs[e.User]; (e.Run - j.end.Sub(j.Start)).Abs() > time.Minute {
				t.Fatalf("job %d ran for %v, seen as %v", e.User, j.end.Sub(j.Start), e.Run)
			}
		}
		others := 0
		for _, j := range jobs {
			if !j.Own && j.submit > minute {
				others++
			}
		}
		if len(h.Arrived) != others {
			t.Fatalf("%d arrivals, want %d", len(h.Arrived), others)
		}
		for _, a := range h.Arrived {
			if d := a.At.Sub(jobs[a.User].submit); d.Abs() > time.Minute {
				t.Fatalf("job %d arrives %v after it did", a.User, d)
			}
		}
	})
}

// TestObserveGap: after a gap a short run time is not known, one that is nearly as long as its limit is, and arrivals are counted anew.
func TestObserveGap(t *testing.T) {
	h := &History{}
	of := func(id string, start job.Time, limit time.Duration) Seen {
		return Seen{ID: id, Array: id, Start: start, Job: Job{User: 1, Nodes: 1, Limit: limit}}
	}
	h.Observe(600*minute, []Seen{of("short", 599*minute, time.Hour), of("long", 1, 610*time.Minute)})
	h.Observe(601*minute, []Seen{of("short", 599*minute, time.Hour), of("long", 1, 610*time.Minute), of("new", 0, time.Hour)})
	if len(h.Arrived) != 1 {
		t.Fatalf("%d arrivals", len(h.Arrived))
	}
	h.Observe(700*minute, nil)
	if len(h.Ended) != 1 || (h.Ended[0].Run-605*time.Minute).Abs() > time.Minute || len(h.Arrived) != 0 || h.Since != 700*minute {
		t.Fatalf("%+v", h)
	}
}

// TestObserveArray: the tasks of an array arrive once, whether they wait together or run one by one.
func TestObserveArray(t *testing.T) {
	h := &History{}
	h.Observe(minute, nil)
	one := Job{User: 1, Nodes: 1, Limit: time.Hour}
	h.Observe(2*minute, []Seen{{ID: "7_[1-5]", Array: "7", Job: one, Copies: 5}})
	h.Observe(3*minute, []Seen{{ID: "7_1", Array: "7", Job: one, Start: 2*minute + 1}, {ID: "7_[2-5]", Array: "7", Job: one, Copies: 4}})
	if len(h.Arrived) != 5 || len(h.Ended) != 0 {
		t.Fatalf("%+v", h)
	}
}

// TestObserveStaysSmall: however many jobs come and go, no more are kept than the bound, and none for longer than Kept.
func TestObserveStaysSmall(t *testing.T) {
	h := &History{}
	for now := minute; now < 40*minute; now += minute {
		seen := make([]Seen, 3*mostKept/20)
		for i := range seen {
			id := fmt.Sprint(now, "-", i)
			seen[i] = Seen{ID: id, Array: id, Start: now, Job: Job{User: 1, Nodes: 1, Limit: time.Hour}}
		}
		h.Observe(now, seen)
	}
	if len(h.Ended) > mostKept || len(h.Arrived) > mostKept || len(h.Ended) < mostKept/2 {
		t.Fatalf("%d ended, %d arrived", len(h.Ended), len(h.Arrived))
	}
	h.Observe(40*minute+job.Time(2*Kept), nil)
	if len(h.Ended)+len(h.Arrived)+len(h.Present) > 0 {
		t.Fatalf("%d ended, %d arrived, %d present after twice the time", len(h.Ended), len(h.Arrived), len(h.Present))
	}
}
