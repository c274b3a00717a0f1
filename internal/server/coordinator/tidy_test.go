package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/control"
	"berth/internal/server/journal"
	"berth/internal/server/leader"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// running is a coordinator without workers, drivers and sockets: its loop alone.
func running(t *testing.T, opts Options) *Server {
	t.Helper()
	s, stop := begin(t, opts)
	t.Cleanup(stop)
	return s
}

// begin is running for a coordinator that is stopped before the test ends.
func begin(t *testing.T, opts Options) (s *Server, stop func()) {
	t.Helper()
	p, err := leader.Of(opts.Home).Resolve(opts.Policies, opts.Said, opts.Env, opts.Log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = newServer(opts, p, cancel)
	if s.own, err = leader.Of(opts.Home).Take(time.Now(), opts.StandIn); err != nil {
		t.Fatal(err)
	}
	if err := s.recover(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.loop(ctx) }()
	return s, func() {
		cancel()
		<-s.stopped
		s.beside.Wait()
		if err := s.journals.Close(); err != nil {
			t.Error(err)
		}
		s.own.Release()
	}
}

// bag makes the folder of a bag, as its command does, and submits it. Without entries it is
// done at once; with some it fails, as there is no driver for what it asks for.
func bag(t *testing.T, s *Server, entries int) job.ID {
	t.Helper()
	id := prepared(t, s, entries)
	if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
		t.Fatal(err)
	}
	return id
}

// prepared writes the folder of a bag, as its command does before it submits it.
func prepared(t *testing.T, s *Server, entries int) job.ID {
	t.Helper()
	r, err := s.home.NewRun(job.Bag, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := &job.Spec{ID: r.ID, Name: "test", Kind: job.Bag, Bag: &job.BagSpec{Stdout: job.Discard, Stderr: job.Discard, Command: []string{"true"},
		Need: job.Resources{CPUs: 1, Mem: 1 << 20}, MaxFails: -1}}
	tasks := statedir.Tasks{Entries: statedir.EntriesOf(make([]job.Entry, entries)...)}
	p := plan.Plan{Kind: job.Bag, Tasks: entries, Reasons: []string{"because"},
		Alloc: job.AllocRequest{On: "nowhere", Nodes: 1, PerNode: job.Resources{CPUs: 1, Mem: 1 << 30}}}
	if err := r.Save(spec, tasks); err != nil {
		t.Fatal(err)
	}
	if err := statedir.WriteJSON(r.Plan(), p); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// held counts what a coordinator has in memory of jobs.
func held(t *testing.T, s *Server) (jobs, inEngine int) {
	t.Helper()
	if err := s.call(func() error {
		jobs, inEngine = len(s.jobs), len(s.engine.Jobs())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return jobs, inEngine
}

// TestOverIsNotHeld: what is over leaves nothing in the coordinator's memory, is told from
// its folder, and is not taken on a second time.
func TestOverIsNotHeld(t *testing.T) {
	s := running(t, options(t))
	ids := map[job.ID]event.State{}
	for i := range 200 {
		want := event.StateDone
		if i%2 == 1 {
			want = event.StateFailed
		}
		ids[bag(t, s, i%2)] = want
	}
	for id := range ids {
		if l := s.lookup(id); l != nil {
			_, archived := l.ends()
			<-archived
			var summary report.JobView
			if err := statedir.ReadJSON(s.home.Run(id).Summary(), &summary); err != nil {
				t.Fatal(err)
			}
			if v := l.view(s.now()); !v.At.Equal(summary.At) { // its nodes may be gone from memory
				t.Errorf("who watches %s is told how it stood at %v, its summary is of %v", id, v.At, summary.At)
			}
		}
	}
	var jobs, inEngine int
	for give := time.Now().Add(time.Minute); time.Now().Before(give); { // the last is taken out a round after it was filed
		if jobs, inEngine = held(t, s); jobs+inEngine == 0 {
			break
		}
	}
	if jobs != 0 || inEngine != 0 {
		t.Errorf("%d jobs are in memory, %d in the engine", jobs, inEngine)
	}
	for id, want := range ids {
		var v report.JobView
		if err := statedir.ReadJSON(s.home.Run(id).Summary(), &v); err != nil || v.State != want {
			t.Fatalf("%s: %s, %v; want %s", id, v.State, err, want)
		}
		if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if jobs, inEngine = held(t, s); jobs != 0 || inEngine != 0 {
		t.Errorf("handed in once more: %d jobs are in memory, %d in the engine", jobs, inEngine)
	}
	if err := s.notInMemory("bag-1"); fmt.Sprint(err) == fmt.Sprint(unknownJob("bag-1")) {
		t.Errorf("of a job that is over: %v", err)
	}
}

// TestFiled: what the coordinator tells of runs that are over is what their folders say: when jobs end, when it starts anew, when a crash has emptied
// a summary, and when a run is removed.
func TestFiled(t *testing.T) {
	opts := options(t)
	s, stop := begin(t, opts)
	check := func(when string, over int, ids ...job.ID) {
		t.Helper()
		for _, id := range ids {
			if l := s.lookup(id); l != nil {
				_, archived := l.ends()
				<-archived
			}
		}
		runs, err := s.home.List()
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.listJobs(httptest.NewRequest("", "/v1/jobs?brief=true", nil))
		if err != nil {
			t.Fatal(err)
		}
		filed, got := list.(control.Listed).Filed, map[job.ID]int64{}
		for i, id := range filed.IDs {
			got[id] = filed.At[i]
		}
		want := map[job.ID]int64{}
		for i, end := range s.home.Ends(runs) {
			if !end.IsZero() {
				want[runs[i].ID] = end.UnixNano()
			}
		}
		if len(want) != over || !maps.Equal(got, want) {
			t.Errorf("%s: %v are told of, and %v are over", when, got, want)
		}
	}
	ids := []job.ID{bag(t, s, 0), bag(t, s, 1), bag(t, s, 0)}
	prepared(t, s, 1)
	check("once they have ended", 3, ids...)
	stop()
	if err := os.Truncate(s.home.Run(ids[1]).Summary(), 0); err != nil {
		t.Fatal(err)
	}
	s = running(t, opts)
	check("when it starts anew", 3, ids...)
	if err := s.forgetRun(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	check("when one is removed", 2)
}

// TestAddedDamaged: an open bag whose added tasks are damaged or gone is left as it is when a coordinator starts, and other jobs go on.
func TestAddedDamaged(t *testing.T) {
	opts := options(t)
	s, stop := begin(t, opts)
	id := preparedOpen(t, s)
	add := control.Submit{ID: id, First: &control.Add{From: "in", Key: "k", Tasks: []json.RawMessage{json.RawMessage(`{"command": ["true"]}`)}}}
	if err := s.submit(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if l := s.lookup(id); l != nil {
		_, filed := l.ends()
		<-filed // its backend is not there, so it has failed
	}
	stop()
	r := opts.Home.Run(id)
	if err := errors.Join(os.RemoveAll(r.Summary()), os.Remove(filepath.Join(r.Dir, "added"))); err != nil {
		t.Fatal(err)
	}
	s = running(t, opts)
	if s.lookup(id) != nil {
		t.Error("a bag without its tasks is taken")
	}
	bag(t, s, 0)
}

// TestSubmitUnreadable: a command that hands in once more what could not be read when the
// coordinator started is refused, and the coordinator goes on.
func TestSubmitUnreadable(t *testing.T) {
	opts := options(t)
	s, stop := begin(t, opts)
	id := bag(t, s, 0)
	stop()
	r := opts.Home.Run(id)
	if err := errors.Join(os.Remove(r.Summary()), os.WriteFile(r.Journal(), []byte("no journal, though as long as one"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s = running(t, opts)
	if err := s.submit(t.Context(), control.Submit{ID: id}); job.CodeOf(err) != job.CodeIO {
		t.Errorf("a damaged run is handed in: %v", err)
	}
	bag(t, s, 0)
}

// TestPrune: the oldest runs go once so many newer ones were submitted, those that are over;
// by default none that has just ended.
func TestPrune(t *testing.T) {
	opts := options(t)
	keep := 3
	opts.Said.KeepRuns = &keep
	s, stop := begin(t, opts)
	present := func() (ids []job.ID) {
		runs, err := s.home.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		return ids
	}
	unhanded, err := s.home.NewRun(job.Bag, nil) // its command has not handed it in
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		bag(t, s, 0)
	}
	want := []job.ID{unhanded.ID, "bag-4", "bag-5", "bag-6"}
	for give := time.Now().Add(time.Minute); len(present()) > len(want) && time.Now().Before(give); {
		if err := s.call(func() error { s.round.after = append(s.round.after, s.prune); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := present(); !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
	stop() // nothing is removed beside this test from here on
	s.choice.KeepRuns = nil
	if err := s.pruneNow(); err != nil || len(present()) != len(want) {
		t.Errorf("by default: %v, %v", present(), err)
	}
}

// TestForgetRefused: what is not over is not forgotten, nor what never was.
func TestForgetRefused(t *testing.T) {
	s := running(t, options(t))
	for _, id := range []job.ID{"bag-1", "../server", "mr-7"} {
		if err := s.forgetRun(t.Context(), id); job.CodeOf(err) != job.CodeArguments {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestCompactAtStart: a coordinator that starts drops what nobody needs of the allocations of
// those before it, gives no number twice, and what it keeps is what it would have had.
func TestCompactAtStart(t *testing.T) {
	opts := options(t)
	s, stop := begin(t, opts)
	var last job.ID
	for range minCompact + 1 {
		last = bag(t, s, 1) // asks for an allocation that cannot be had
		if l := s.lookup(last); l != nil {
			over, _ := l.ends()
			<-over
		}
	}
	stop()
	records := func() (all []event.Record) {
		if _, err := journal.Replay(opts.Home.Journal(), func(e event.Entry) error {
			all = append(all, e.Record)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := len(records())
	for range 2 { // the second has nothing to compact
		_, stop = begin(t, opts)
		stop()
		if now := records(); before < 2*minCompact || len(now) != 2 {
			t.Fatalf("%d records of %d are left: %v", len(now), before, now)
		}
	}
	s = running(t, opts)
	bag(t, s, 1)
	if err := s.call(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	want := job.AllocID(fmt.Sprintf("a%d", minCompact+2))
	if r, ok := records()[2].(event.AllocRequested); !ok || r.Alloc != want {
		t.Errorf("the next allocation is %v, want %s", r.Alloc, want)
	}
}

// TestDamagedSummary: how a run ended is known from its journal if its summary is damaged, and a coordinator does not take it for one that goes
// on. A summary that a crash has emptied is written anew.
func TestDamagedSummary(t *testing.T) {
	s := running(t, options(t))
	id := bag(t, s, 1)
	if l := s.lookup(id); l != nil {
		_, archived := l.ends()
		<-archived
	}
	r := s.home.Run(id)
	if err := os.WriteFile(r.Summary(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, over := s.archived(id); !over || v.State != event.StateFailed {
		t.Errorf("with a damaged summary the run is %q, over %v", v.State, over)
	}
	if open, err := s.reopenAll(); err != nil || len(open) > 0 {
		t.Errorf("with a damaged summary %v go on, %v", open, err)
	}
	if err := os.Truncate(r.Summary(), 0); err != nil {
		t.Fatal(err)
	}
	if _, over := s.archived(id); over {
		t.Error("with an empty summary the run is over")
	}
	if err := s.call(func() error {
		open, err := s.reopenAll()
		if err != nil || len(open) != 1 {
			t.Errorf("with an empty summary %v go on, %v", open, err)
		}
		s.removeJob(id)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
