package batch

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// reference is a simple implementation of a policy, without regard to speed.
type reference interface {
	submit(now job.Time, e Entry)
	cancel(now job.Time, id ID)
	end(now job.Time, id ID)
	resize(now job.Time, more int)
	start(now job.Time) []ID
	planned(now job.Time, id ID) job.Time // of a waiting job
	freeAt(now, at job.Time) int          // on the timeline
}

// references are the simple implementations of all policies.
var references = map[Policy]func(nodes int) reference{
	FCFS:     func(n int) reference { return &fcfsReference{nodes: n, jobs: map[ID]Entry{}} },
	EASY:     func(n int) reference { return newEASYReference(n, false) },
	EASYSJBF: func(n int) reference { return newEASYReference(n, true) },
	CBF:      func(n int) reference { return newCBFReference(n) },
}

// TestReferences applies the same events to batch systems and their references: ends at the limit, early and
// at once, several events at one instant, cancellations (also of the head), and nodes that are added
// and removed.
func TestReferences(t *testing.T) {
	for p, reference := range references {
		t.Run(string(p), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 40).Draw(t, "nodes")
				fight(t, New(nodes, p), reference(nodes))
			})
		})
	}
}

// duel is a system and its reference.
type duel struct {
	t         *rapid.T
	sys       *System
	reference reference
	now       job.Time
	next      ID
	most      int // of a job
}

// fight draws the events for both, instant by instant.
func fight(t *rapid.T, sys *System, reference reference) {
	d := &duel{t: t, sys: sys, reference: reference, most: rapid.SampledFrom([]int{2, 8, 40}).Draw(t, "most")}
	for range rapid.IntRange(1, 60).Draw(t, "instants") {
		d.instant()
	}
}

// instant moves to the next instant and draws its events.
func (d *duel) instant() {
	d.forward()
	for _, e := range slices.Collect(d.sys.Running()) {
		if after(e.Start, e.Limit) == d.now || rapid.IntRange(0, 9).Draw(d.t, "early") == 0 {
			d.sys.End(d.now, e.ID)
			d.reference.end(d.now, e.ID)
		}
	}
	if rapid.IntRange(0, 9).Draw(d.t, "resize") == 0 {
		if more := rapid.IntRange(-d.sys.Free(), 4).Draw(d.t, "more"); d.sys.Nodes()+more > 0 {
			d.sys.Resize(d.now, more)
			d.reference.resize(d.now, more)
		}
	}
	d.cancel()
	for range rapid.IntRange(0, 4).Draw(d.t, "arrivals") {
		d.submit()
	}
	d.cancel()
	d.compare()
	got := d.sys.Start(d.now, nil)
	want := d.reference.start(d.now)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		d.t.Fatalf("at %d start %v, want %v", d.now, got, want)
	}
	d.compare()
}

// forward advances the time, at most to the next event.
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
	d.reference.submit(d.now, e)
}

func (d *duel) cancel() {
	for e := range d.sys.Waiting() {
		if rapid.IntRange(0, 15).Draw(d.t, "cancel") == 0 {
			d.sys.Cancel(d.now, e.ID)
			d.reference.cancel(d.now, e.ID)
			return
		}
	}
}

// compare compares the visible state. It does so only sometimes, because queries must not change the
// behaviour.
func (d *duel) compare() {
	if rapid.IntRange(0, 3).Draw(d.t, "look") != 0 {
		return
	}
	for e := range d.sys.Waiting() {
		if want := d.reference.planned(d.now, e.ID); e.Start != want {
			d.t.Fatalf("at %d job %d is to start at %d, want %d", d.now, e.ID, e.Start, want)
		}
	}
	line := d.sys.Timeline(d.now)
	for at := d.now; at < d.now+30; at++ {
		if got, want := line.At(at), d.reference.freeAt(d.now, at); got != want {
			d.t.Fatalf("at %d %d nodes are free at %d, want %d", d.now, got, at, want)
		}
	}
}

// fcfsReference is first come, first served.
type fcfsReference struct {
	nodes            int
	jobs             map[ID]Entry
	running, waiting []ID
}

func (t *fcfsReference) submit(_ job.Time, e Entry) {
	t.jobs[e.ID] = e
	t.waiting = append(t.waiting, e.ID)
}

func (t *fcfsReference) cancel(_ job.Time, id ID)      { t.waiting = without(t.waiting, id) }
func (t *fcfsReference) end(_ job.Time, id ID)         { t.running = without(t.running, id) }
func (t *fcfsReference) resize(_ job.Time, more int)   { t.nodes += more }
func (t *fcfsReference) planned(job.Time, ID) job.Time { return timeline.Never }
func (t *fcfsReference) free(now job.Time) int         { return t.freeAt(now, now) }

func (t *fcfsReference) start(now job.Time) (ids []ID) {
	for len(t.waiting) > 0 && t.jobs[t.waiting[0]].Nodes <= t.free(now) {
		e := t.jobs[t.waiting[0]]
		e.Start = now
		t.jobs[e.ID] = e
		t.waiting, t.running = t.waiting[1:], append(t.running, e.ID)
		ids = append(ids, e.ID)
	}
	return ids
}

func (t *fcfsReference) freeAt(_, at job.Time) int {
	free := t.nodes
	for _, id := range t.running {
		if e := t.jobs[id]; at < after(e.Start, e.Limit) {
			free -= e.Nodes
		}
	}
	return free
}

// TestCancelledBeforeStart checks that a job submitted and cancelled at one instant has no effect.
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
