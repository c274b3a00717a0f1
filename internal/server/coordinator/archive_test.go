package coordinator

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/control"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// cancelled returns a job that was cancelled.
func cancelled(t *testing.T, s *Server) *live {
	t.Helper()
	id := preparedOpen(t, s)
	if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
		t.Fatal(err)
	}
	l := s.lookup(id)
	if err := s.call(func() error { return s.step(step.Cancel{Job: id}) }); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShown: as soon as those who watch a job are told that it is over, its summary is there and says the same, however the job ended.
func TestShown(t *testing.T) {
	s := running(t, options(t))
	for range 20 {
		for id, want := range map[job.ID]event.State{
			bag(t, s, 0): event.StateDone, bag(t, s, 1): event.StateFailed, cancelled(t, s).Spec.ID: event.StateCancelled,
		} {
			var told, summary report.JobView
			l := s.lookup(id)
			if l != nil {
				over, _ := l.ends()
				<-over
				told = l.view(s.now())
			}
			if err := statedir.ReadJSON(s.home.Run(id).Summary(), &summary); err != nil || summary.State != want {
				t.Fatalf("%s is %s, and its summary says %q, %v", id, want, summary.State, err)
			}
			if l != nil && !told.At.Equal(summary.At) {
				t.Errorf("who watches %s is told how it stood at %v, its summary is of %v", id, told.At, summary.At)
			}
		}
	}
}

// TestShownAndKilled: a coordinator dies after a job has shown that it is over, and before anything of it is in the history. The next one
// brings it into the history and marks it as archived.
func TestShownAndKilled(t *testing.T) {
	opts := options(t)
	dies, stop := begin(t, opts)
	l := cancelled(t, dies)
	_, archived := l.ends()
	<-archived
	e := dies.endingOf(l, nil, nil) // it has no history that is written meanwhile
	e.durable.Go(dies.makeDurable)
	e.clean()
	e.write()
	stop()
	r := opts.Home.Run(l.Spec.ID)
	if end := opts.Home.Ends([]statedir.Run{r})[0]; !end.IsZero() {
		t.Fatalf("it counts as archived since %v", end)
	}
	next, _ := stopped(t, opts)
	store, err := history.Open(t.Context(), opts.Home.Database())
	if err != nil {
		t.Fatal(err)
	}
	next.store = func() *history.Store { return store }
	if err := next.recover(); err != nil {
		t.Fatal(err)
	}
	next.beside.Wait()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if end := opts.Home.Ends([]statedir.Run{r})[0]; end.IsZero() {
		t.Error("it is not archived")
	}
	db, err := sql.Open("sqlite", opts.Home.Database())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var state event.State
	if err := db.QueryRow(`SELECT state FROM runs WHERE id = ?`, r.ID).Scan(&state); err != nil || state != event.StateCancelled {
		t.Errorf("in the history it is %q, %v", state, err)
	}
}

// TestSummaryLater: a job whose summary cannot be written, as on a full disk, stays in memory, so that it is told and found by jobs
// that come after it. Who watches it does not wait, and is told why. Once its summary can be written, it is.
func TestSummaryLater(t *testing.T) {
	s := running(t, options(t))
	id := prepared(t, s, 0)
	r := s.home.Run(id)
	if err := os.MkdirAll(filepath.Join(r.Summary(), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
		t.Fatal(err)
	}
	l := s.lookup(id)
	if l == nil {
		t.Fatal("the job is not in memory")
	}
	over, filed := l.ends()
	<-over
	if notes := fmt.Sprint(l.view(s.now()).Notes); strings.Count(notes, "its summary cannot be written") != 1 {
		t.Errorf("who watches it is told %q", notes)
	}
	if err := s.call(func() error { s.tidy(); return nil }); err != nil || s.lookup(id) == nil || closed(filed) {
		t.Errorf("%v, and the job without a summary is not in memory", err)
	}
	if err := os.RemoveAll(r.Summary()); err != nil {
		t.Fatal(err)
	}
	<-filed
	if v, over := s.archived(r.ID); !over || v.State != event.StateDone {
		t.Errorf("its summary says %q", v.State)
	}
}

// TestRemoveEmpty: the folder of a bag in which nothing is does not stay; other folders do.
func TestRemoveEmpty(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bag-1", "runs/bag-2", "bag-3", "logs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bag-3", "1.stdout"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		id     job.ID
		outdir string
		stdout string
		stays  string
	}{{"bag-1", "", "", ""}, {"bag-2", "runs", "", "runs"}, {"bag-3", "", "", "bag-3"}, {"bag-4", "", "logs/{task}.out", "logs"}} {
		spec := job.New(job.Bag, dir)
		spec.ID, spec.Bag.OutDir, spec.Bag.Stdout = b.id, b.outdir, b.stdout
		spec.Normalize()
		removeEmpty(spec)
		if _, err := os.Stat(filepath.Join(dir, b.outdir, string(b.id))); (err == nil) != (b.stays == string(b.id)) {
			t.Errorf("%s: %v", b.id, err)
		}
		if _, err := os.Stat(filepath.Join(dir, b.stays)); err != nil {
			t.Error(err)
		}
	}
}
