package starts

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// TestDrawsFollowFromTheSeed: the same queue, history and seed give the same waits, in whatever order they are asked for,
// and another seed gives others.
func TestDrawsFollowFromTheSeed(t *testing.T) {
	q, h := busy(100, 60, 80, rand.New(rand.NewPCG(1, 2)))
	waits := func(seed uint64, sizes ...int) Waits {
		draws := NewPast(h, q.Now).Draw(q, 20, seed)
		for _, n := range sizes {
			draws.Waits(n, time.Hour)
		}
		return draws.Waits(50, 3*time.Hour)
	}
	first := waits(1)
	if again := waits(1, 100, 2, 50); !slices.Equal(first, again) {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if slices.Equal(first, waits(1000)) {
		t.Error("another seed gives the same waits")
	}
}

// TestJobsThatEndEarly: where a user's jobs always took a tenth of their limits, a request that waits for one starts after
// a tenth, and not at the limit; where the job has already run longer than that, its end is drawn from jobs that did, too.
func TestJobsThatEndEarly(t *testing.T) {
	const now = job.Time(1e18)
	h := &History{Since: now}
	for i := range 10 {
		j := Job{User: 1, Nodes: 1, Limit: 10 * time.Hour}
		h.Ended = append(h.Ended, Ended{j, now, time.Hour})
		if j.User = 2; i < 5 {
			h.Ended = append(h.Ended, Ended{j, now, 8 * time.Hour})
		}
	}
	for _, c := range []struct {
		name    string
		user    int32
		elapsed time.Duration
		want    time.Duration
	}{
		{"a user's own jobs", 1, 0, time.Hour},
		{"longer than any of a user's: those of others that ran as long", 1, 2 * time.Hour, 6 * time.Hour},
		{"a user without jobs: the median of all", 3, 0, time.Hour},
	} {
		q := &Queue{Now: now, Nodes: 1, Running: []Running{{Job{User: c.user, Nodes: 1, Limit: 10 * time.Hour}, now.Add(-c.elapsed)}}}
		draws := NewPast(h, now).Draw(q, 50, 1)
		if got := draws.Waits(1, time.Hour).Median().Round(time.Minute); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	q := &Queue{Now: now, Nodes: 1, Running: []Running{{Job{Nodes: 1, Limit: time.Hour}, now}}}
	none := NewPast(&History{Since: now}, now).Draw(q, 50, 1).Waits(1, time.Hour)
	if m := none.Mean(); m < 20*time.Minute || m > 40*time.Minute {
		t.Errorf("without a history the mean wait is %v, want about half of the limit", m)
	}
}

// TestJobsOfAUserAreAlike: where half of a user's jobs take a tenth of their limits and half nine tenths, eight that run end together
// early in one of eight draws. If they are of eight users, or nobody knows of whom, that is as rare as chance has it, one of 256.
func TestJobsOfAUserAreAlike(t *testing.T) {
	const now, n = job.Time(1e18), 8
	early := func(first, users int32) (draws int) {
		h, q := &History{Since: now}, &Queue{Now: now, Nodes: n}
		for i := range int32(n) {
			j := Job{User: first + i%users, Nodes: 1, Limit: 10 * time.Hour}
			for k := range 40 {
				h.Ended = append(h.Ended, Ended{j, now, time.Duration(1+8*(k%2)) * time.Hour})
			}
			q.Running = append(q.Running, Running{j, now})
		}
		for _, w := range NewPast(h, now).Draw(q, 400, 1).Waits(n, time.Hour) {
			if w.Round(time.Minute) == time.Hour {
				draws++
			}
		}
		return draws
	}
	if one, many, unknown := early(0, 1), early(0, n), early(-2, 1); one < 25 || one > 100 || many > 10 || unknown > 10 {
		t.Errorf("all end early in %d of 400 draws if they are of one user, in %d if of %d, in %d if the user is unknown", one, many, n, unknown)
	}
}

// TestArrivalsOfDaysBefore: jobs that came at this time of day come again, at most once a day, and go before nobody who
// waits already; without a whole day of history nobody comes.
func TestArrivalsOfDaysBefore(t *testing.T) {
	const now = job.Time(100 * day)
	h := &History{Since: now.Add(-3 * day)}
	for d := 3; d > 0; d-- {
		at := now.Add(-time.Duration(d)*day + time.Hour)
		h.Arrived = append(h.Arrived, Arrived{Job: Job{Nodes: int32(d), Limit: time.Hour}, At: at})
	}
	past := NewPast(h, now)
	s := &source{Past: past, queue: &Queue{Now: now}, coming: make([]pools, 3)}
	seen := map[int32]bool{}
	for seed := range uint64(20) {
		d := s.future(seed)
		for k := range 10 {
			at, j, _, ok := d.Arrival(k)
			if want := now.Add(time.Duration(k)*day + time.Hour); !ok || at != want {
				t.Fatalf("arrival %d is at %v, want %v", k, at.Sub(now), want.Sub(now))
			}
			if k == 0 {
				seen[j.Nodes] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("the first arrival is always of the days %v before", seen)
	}
	h.Since = now.Add(-23 * time.Hour)
	s.Past = NewPast(h, now)
	if _, _, _, ok := s.future(1).Arrival(0); ok {
		t.Error("a job comes, although no whole day was seen")
	}
}

// TestHistoryIsBounded: what is older than seven days is dropped, and the oldest of more jobs than are kept; arrivals are
// complete since the instant that the history gives.
func TestHistoryIsBounded(t *testing.T) {
	const now = job.Time(100 * day)
	h := &History{}
	for i := range 2 * mostKept {
		at := now.Add(-8*day + time.Duration(i)*(8*day/(2*mostKept)))
		h.Arrived, h.Ended = append(h.Arrived, Arrived{At: at}), append(h.Ended, Ended{At: at})
	}
	h.Trim(now)
	if len(h.Arrived) > mostKept || len(h.Ended) > mostKept || len(h.Arrived) < mostKept-1 {
		t.Errorf("%d arrivals and %d ends are kept", len(h.Arrived), len(h.Ended))
	}
	if h.Since <= now.Add(-Kept) || h.Arrived[0].At < h.Since {
		t.Errorf("since %v, the first arrival is at %v before now", h.Since.Sub(now), now.Sub(h.Arrived[0].At))
	}
	h.Trim(now.Add(Kept + day))
	if len(h.Arrived) != 0 || len(h.Ended) != 0 {
		t.Errorf("after seven more days %d are kept", len(h.Arrived))
	}
}

// TestBandOfFewDraws: a band of few draws holds 80 % of the waits that come, if these are as the draws are.
func TestBandOfFewDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	wait := func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(time.Hour)) }
	for _, draws := range []int{12, 50} {
		held := 0
		for range 4000 {
			w := make(Waits, draws)
			for i := range w {
				w[i] = wait()
			}
			if slices.Sort(w); w.Band().Holds(wait()) {
				held++
			}
		}
		if held < 3100 || held > 3300 {
			t.Errorf("bands of %d draws hold %d of 4000 waits", draws, held)
		}
	}
}

// TestBandIsCalibrated: where starts come three times as late as their bands say, later bands hold 80 % of them.
func TestBandIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var came []Came
	held, raw := 0, 0
	for i := range 1200 {
		low := time.Duration(1+rng.IntN(600)) * time.Minute
		b := Band{low, 2 * low}
		wait := time.Duration(float64(low) * (1 + rng.Float64()) * 3)
		if i >= lastCame {
			if b.Holds(wait) {
				raw++
			}
			if b.Calibrated(came).Holds(wait) {
				held++
			}
		}
		came = append(came, Came{b, wait})
	}
	if raw > 50 || held < 750 || held > 850 {
		t.Errorf("of 1,000 starts %d are in the bands and %d in the calibrated ones", raw, held)
	}
	if b := (Band{time.Hour, 2 * time.Hour}); b.Calibrated(came[:fewestCame-1]) != b {
		t.Error("too few starts change a band")
	}
}

// TestForksAreApart: what is asked of draws before changes no answer, although all continue in the same memory.
func TestForksAreApart(t *testing.T) {
	q, h := busy(60, 40, 30, rand.New(rand.NewPCG(5, 6)))
	h.Ended, h.Arrived = h.Ended[:2000], h.Arrived[len(h.Arrived)-4000:]
	draws := NewPast(h, q.Now).Draw(q, 5, 1)
	type request struct {
		nodes int
		limit time.Duration
	}
	alone := map[request]Waits{}
	var all []request
	for nodes := 1; nodes <= 60; nodes += 7 {
		r := request{nodes, time.Duration(nodes) * time.Hour}
		all = append(all, r)
		alone[r] = NewPast(h, q.Now).Draw(q, 5, 1).Waits(r.nodes, r.limit)
	}
	for _, r := range append(slices.Clone(all), all...) {
		if got := draws.Waits(r.nodes, r.limit); !slices.Equal(got, alone[r]) {
			t.Fatalf("%v: %v, alone %v", r, got, alone[r])
		}
	}
}

// TestFewJobsLikeIt: three jobs that ran equally long do not make a start certain: where many others ran longer, so do some of the draws.
// With thirty such jobs few do.
func TestFewJobsLikeIt(t *testing.T) {
	const now = job.Time(1e18)
	one := Job{User: 1, Nodes: 1, Limit: time.Hour}
	for like, want := range map[int][2]int{3: {20, 60}, 30: {0, 20}} {
		h := &History{Since: now}
		for range like {
			h.Ended = append(h.Ended, Ended{one, now, time.Minute})
		}
		for range 100 {
			h.Ended = append(h.Ended, Ended{Job{User: 2, Nodes: 1, Limit: time.Hour}, now, 50 * time.Minute})
		}
		later := 0
		q := &Queue{Now: now, Nodes: 1, Running: []Running{{one, now}}}
		for _, w := range NewPast(h, now).Draw(q, 100, 1).Waits(1, time.Hour) {
			if w > 2*time.Minute {
				later++
			}
		}
		if later < want[0] || later > want[1] {
			t.Errorf("with %d jobs like it %d of 100 draws start later, want %d to %d", like, later, want[0], want[1])
		}
	}
}

// TestOwnRequests: the last of the waiting jobs, which whoever asks would request, run to their limits, whatever jobs like them did.
func TestOwnRequests(t *testing.T) {
	const now = job.Time(1e18)
	h := &History{Since: now}
	one := Job{User: 1, Nodes: 1, Limit: time.Hour}
	for range 10 {
		h.Ended = append(h.Ended, Ended{one, now, time.Minute})
	}
	q := &Queue{Now: now, Nodes: 1, Waiting: []Job{one, one}, Own: 1}
	if got := NewPast(h, now).Draw(q, 10, 1).Waits(1, time.Hour).Median().Round(time.Minute); got != 61*time.Minute {
		t.Errorf("behind another job and one of its own a request starts after %v", got)
	}
	draws := NewPast(h, now).Draw(q, 10, 1)
	for i, want := range []time.Duration{0, time.Minute} {
		if got := draws.Waiting(i).Median().Round(time.Minute); got != want {
			t.Errorf("waiting job %d starts after %v, want %v", i, got, want)
		}
	}
}

// TestOthersComeForEver: a request that others overtake for ever, because no nodes are reserved for it, waits for at least as long as a
// course has patience, and so does one for a node whose job never ends. Its wait is known all the same, and smaller requests start.
func TestOthersComeForEver(t *testing.T) {
	const now = job.Time(1e18)
	h := &History{Since: now.Add(-2 * day)}
	for at := h.Since; at < now; at = at.Add(10 * time.Minute) {
		j := Job{User: 1, Nodes: 1, Limit: time.Hour}
		h.Arrived = append(h.Arrived, Arrived{Job: j, At: at})
		h.Ended = append(h.Ended, Ended{j, at, time.Hour})
	}
	endless := Running{Job{User: 2, Nodes: 1, Limit: timeline.Unbounded}, now}
	for name, q := range map[string]*Queue{
		"no reservation":               {Now: now, Nodes: 4, Depth: -1, Running: []Running{{Job{User: 1, Nodes: 2, Limit: time.Hour}, now}}},
		"a job without an end":         {Now: now, Nodes: 4, Running: []Running{endless}},
		"one that waits for all nodes": {Now: now, Nodes: 4, Running: []Running{endless}, Waiting: []Job{{User: 2, Nodes: 4, Limit: time.Hour}}},
	} {
		draws := NewPast(h, now).Draw(q, 3, 1)
		if w := draws.Waits(4, time.Hour); w[0] < patience || w[2] == timeline.Unbounded {
			t.Errorf("%s: all nodes after %v", name, w)
		}
		if w := draws.Waits(1, time.Minute); w[2] > 2*time.Hour {
			t.Errorf("%s: one node after %v", name, w)
		}
	}
}

// TestDrawsWithOthersThatWait: draws of a queue with other waiting jobs are the same whether they are made from those of the queue without
// them or anew: of all waiting jobs, and of requests behind them, whatever the draws before were asked.
func TestDrawsWithOthersThatWait(t *testing.T) {
	for i := range 4 {
		rng := rand.New(rand.NewPCG(uint64(i), 2))
		q, h := busy(100, 60, 40*i, rng)
		q.Depth = []int{0, 1, 16, -1}[i]
		if i%2 == 0 {
			q.Closed = []Closed{{From: q.Now, To: q.Now.Add(5 * time.Hour), Nodes: 2}, {From: q.Now.Add(3 * time.Hour), To: q.Now.Add(6 * time.Hour), Nodes: 9}}
		}
		past := NewPast(h, q.Now)
		draws := past.Draw(q, 4, 7)
		draws.Waits(1+rng.IntN(100), time.Hour)
		with := *q
		with.Waiting, with.Own = append(slices.Clone(q.Waiting), Job{User: 1, Nodes: 20, Limit: time.Hour}, Job{User: 1, Nodes: 3, Limit: 4 * time.Hour}), 2
		got, want := draws.With(&with), past.Draw(&with, 4, 7)
		for k := range with.Waiting {
			if g, w := got.Waiting(k), want.Waiting(k); !slices.Equal(g, w) {
				t.Fatalf("queue %d: job %d waits %v, drawn anew %v", i, k, g, w)
			}
		}
		for _, nodes := range []int{1, 7, 30, 98} {
			if g, w := got.Waits(nodes, 2*time.Hour), want.Waits(nodes, 2*time.Hour); !slices.Equal(g, w) {
				t.Fatalf("queue %d: %d nodes wait %v, drawn anew %v", i, nodes, g, w)
			}
		}
	}
}

// TestOpens: the first opening for a request is the first of all that admits it.
func TestOpens(t *testing.T) {
	q, h := busy(500, 300, 600, rand.New(rand.NewPCG(5, 6)))
	for _, c := range NewPast(h, q.Now).Draw(q, 3, 1) {
		if len(c.openings) < 2*blockSize {
			t.Fatalf("only %d openings", len(c.openings))
		}
		for nodes := 1; nodes <= q.Nodes; nodes += 7 {
			for _, limit := range []time.Duration{time.Minute, 5 * time.Hour, timeline.Unbounded} {
				i := slices.IndexFunc(c.openings, func(o opening) bool {
					return nodes <= int(o.free) && keepsBounds(c.memory[o.from:o.to], nodes, timeline.After(o.at, limit))
				})
				at, ok := c.firstOpening(nodes, limit)
				if ok != (i >= 0) || ok && at != c.openings[i].at {
					t.Fatalf("%d nodes for %v: at %d, %v; it is opening %d", nodes, limit, at, ok, i)
				}
			}
		}
	}
}
