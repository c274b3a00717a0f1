package coordinator

import (
	"os"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
)

// resumes lets a coordinator take a job up again, up to the round in which that is decided and
// of which nothing is written yet.
func (s *Server) resumes(t *testing.T, id job.ID) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.resume(t.Context(), id, control.Resume{Failed: true}) }()
	resumed := func(r event.Record) bool { _, ok := r.(event.JobResumed); return ok }
	for !slices.ContainsFunc(s.round.records, resumed) {
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		select {
		case work := <-s.posted:
			s.round.at = s.now()
			work()
		case err := <-done:
			t.Fatalf("the job is not resumed: %v", err)
		}
	}
}

// TestResumeCutShort: a coordinator dies as it takes up a job that had ended. The job goes on if
// that is on record, and else it is over as before, with a summary that says so.
func TestResumeCutShort(t *testing.T) {
	opts := options(t)
	var id job.ID
	t.Run("first run", func(t *testing.T) {
		s := running(t, opts)
		id = bag(t, s, 2)
		if l := s.lookup(id); l != nil {
			_, archived := l.ends()
			<-archived
		}
	})
	summary := opts.Home.Run(id).Summary()
	for _, written := range []bool{false, true} {
		dies, _ := stopped(t, opts)
		if err := dies.recover(); err != nil {
			t.Fatal(err)
		}
		if dies.filed[id].IsZero() {
			t.Error("a coordinator that has read its folder does not name the job as over")
		}
		dies.resumes(t, id)
		if _, there := dies.filed[id]; there {
			t.Error("a job that goes on is named as over")
		}
		if written {
			dies.round.actions, dies.round.after = nil, nil
			if err := dies.flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := dies.journals.Close(); err != nil {
			t.Fatal(err)
		}
		next, _ := stopped(t, opts)
		if err := next.recover(); err != nil {
			t.Fatal(err)
		}
		next.beside.Wait()
		_, err := os.Stat(summary)
		j, known := next.engine.Job(id)
		if over := known && j.State.Final(); !known || over == written || (err == nil) == written {
			t.Errorf("on record: %t; afterwards the job is %q, its summary: %v", written, j.State, err)
		}
		if err := next.journals.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedResume: a job that is done cannot be resumed, and is not told by the plan of that resume afterwards.
func TestRefusedResume(t *testing.T) {
	s := running(t, options(t))
	id := bag(t, s, 0)
	if l := s.lookup(id); l != nil {
		_, archived := l.ends()
		<-archived
	}
	for give := time.Now().Add(time.Minute); s.lookup(id) != nil && time.Now().Before(give); { // it leaves memory a round later
		if err := s.call(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.resume(t.Context(), id, control.Resume{}); job.ClassOf(err) != job.User {
		t.Fatalf("a job that is done is resumed: %v", err)
	}
	if l := s.lookup(id); l != nil {
		t.Errorf("the refused job is in memory: %+v", l.view(s.now()))
	}
}
