package batch

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/job"
	"berth/internal/timeline"
)

// twin is a policy as it is told, without regard to speed.
type twin interface {
	submit(now job.Time, e Entry)
	cancel(now job.Time, id ID)
	end(now job.Time, id ID)
	resize(now job.Time, more int)
	start(now job.Time) []ID
	planned(now job.Time, id ID) job.Time // of a waiting job
	freeAt(now, at job.Time) int          // on the timeline
}

// twins are those of all policies, on so many nodes.
var twins = map[Policy]func(nodes int) twin{
	FCFS:     func(n int) twin { return &fcfsTwin{nodes: n, jobs: map[ID]Entry{}} },
	EASY:     func(n int) twin { return newEASYTwin(n, false) },
	EASYSJBF: func(n int) twin { return newEASYTwin(n, true) },
	CBF:      func(n int) twin { return newCBFTwin(n) },
}

// TestTwins gives batch systems and their twins the same things to do: jobs that end at
// their limits, early and at once, several things at one instant, cancellations (of the
// head, too), nodes that come and go.
func TestTwins(t *testing.T) {
	for p, twin := range twins {
		t.Run(string(p), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 40).Draw(t, "nodes")
				fight(t, New(nodes, p), twin(nodes))
			})
		})
	}
}

// duel is a system and its twin.
type duel struct {
	t    *rapid.T
	sys  *System
	twin twin
	now  job.Time
	next ID
	most int // nodes of a job
}

// fight draws what happens to both, instant by instant.
func fight(t *rapid.T, sys *System, twin twin) {
	d := &duel{t: t, sys: sys, twin: twin, most: rapid.SampledFrom([]int{2, 8, 40}).Draw(t, "most")}
	for range rapid.IntRange(1, 60).Draw(t, "instants") {
		d.instant()
	}
}

// instant moves on to the next instant and has some things happen then.
func (d *duel) instant() {
	d.forward()
	for _, e := range slices.Collect(d.sys.Running()) {
		if after(e.Start, e.Limit) == d.now || rapid.IntRange(0, 9).Draw(d.t, "early") == 0 {
			d.sys.End(d.now, e.ID)
			d.twin.end(d.now, e.ID)
		}
	}
	if rapid.IntRange(0, 9).Draw(d.t, "resize") == 0 {
		if more := rapid.IntRange(-d.sys.Free(), 4).Draw(d.t, "more"); d.sys.Nodes()+more > 0 {
			d.sys.Resize(d.now, more)
			d.twin.resize(d.now, more)
		}
	}
	d.cancel()
	for range rapid.IntRange(0, 4).Draw(d.t, "arrivals") {
		d.submit()
	}
	d.cancel()
	d.compare()
	got := d.sys.Start(d.now, nil)
	want := d.twin.start(d.now)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		d.t.Fatalf("at %d start %v, want %v", d.now, got, want)
	}
	d.compare()
}

// forward moves the time on, not beyond what has to happen.
func (d *duel) forward() {
	to := d.now + job.Time(rapid.IntRange(0, 5).Draw(d.t, "dt"))
	for e := range d.sys.Running() {
		to = min(to, after(e.Start, e.Limit))
	}
	d.now = max(d.now, min(to, d.sys.Next()))
}

func (d *duel) submit() {
	e := Entry{ID: d.next, Submit: d.now, Start: timeline.Never}
	e.Nodes = rapid.IntRange(1, min(d.most, d.sys.Nodes())).Draw(d.t, "n")
	e.Limit = time.Duration(rapid.IntRange(1, 12).Draw(d.t, "limit"))
	if rapid.IntRange(0, 30).Draw(d.t, "endless") == 0 {
		e.Limit = timeline.Unbounded
	}
	d.next += ID(rapid.IntRange(1, 3).Draw(d.t, "gap"))
	d.sys.Submit(d.now, e.ID, e.Nodes, e.Limit)
	d.twin.submit(d.now, e)
}

func (d *duel) cancel() {
	for e := range d.sys.Waiting() {
		if rapid.IntRange(0, 15).Draw(d.t, "cancel") == 0 {
			d.sys.Cancel(d.now, e.ID)
			d.twin.cancel(d.now, e.ID)
			return
		}
	}
}

// compare compares what is shown, now and then only: what is asked must not change what is done.
func (d *duel) compare() {
	if rapid.IntRange(0, 3).Draw(d.t, "look") != 0 {
		return
	}
	for e := range d.sys.Waiting() {
		if want := d.twin.planned(d.now, e.ID); e.Start != want {
			d.t.Fatalf("at %d job %d is to start at %d, want %d", d.now, e.ID, e.Start, want)
		}
	}
	line := d.sys.Timeline(d.now)
	for at := d.now; at < d.now+30; at++ {
		if got, want := line.At(at), d.twin.freeAt(d.now, at); got != want {
			d.t.Fatalf("at %d %d nodes are free at %d, want %d", d.now, got, at, want)
		}
	}
}

// fcfsTwin is first come, first served.
type fcfsTwin struct {
	nodes            int
	jobs             map[ID]Entry
	running, waiting []ID
}

func (t *fcfsTwin) submit(_ job.Time, e Entry) {
	t.jobs[e.ID] = e
	t.waiting = append(t.waiting, e.ID)
}

func (t *fcfsTwin) cancel(_ job.Time, id ID)      { t.waiting = without(t.waiting, id) }
func (t *fcfsTwin) end(_ job.Time, id ID)         { t.running = without(t.running, id) }
func (t *fcfsTwin) resize(_ job.Time, more int)   { t.nodes += more }
func (t *fcfsTwin) planned(job.Time, ID) job.Time { return timeline.Never }
func (t *fcfsTwin) free(now job.Time) int         { return t.freeAt(now, now) }

func (t *fcfsTwin) start(now job.Time) (ids []ID) {
	for len(t.waiting) > 0 && t.jobs[t.waiting[0]].Nodes <= t.free(now) {
		e := t.jobs[t.waiting[0]]
		e.Start = now
		t.jobs[e.ID] = e
		t.waiting, t.running = t.waiting[1:], append(t.running, e.ID)
		ids = append(ids, e.ID)
	}
	return ids
}

func (t *fcfsTwin) freeAt(_, at job.Time) int {
	free := t.nodes
	for _, id := range t.running {
		if e := t.jobs[id]; at < after(e.Start, e.Limit) {
			free -= e.Nodes
		}
	}
	return free
}

// TestCancelledBeforeStart: jobs that come and go at one instant leave no trace.
func TestCancelledBeforeStart(t *testing.T) {
	for _, p := range Policies {
		s := New(2, p)
		for id := range ID(20) {
			s.Submit(0, id, 1, time.Hour)
			if id < 19 {
				s.Cancel(0, id)
			}
		}
		if ids := s.Start(0, nil); len(ids) != 1 || ids[0] != 19 {
			t.Errorf("%s starts %v, want 19", p, ids)
		}
	}
}
