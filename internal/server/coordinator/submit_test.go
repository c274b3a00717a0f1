package coordinator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/journal"

	"golang.org/x/sync/errgroup"
)

// TestNoRoom: a job for which the state folder has no room is refused, also to be resumed, and nothing of it is recorded.
// The coordinator goes on, and takes the same job once there is room.
func TestNoRoom(t *testing.T) {
	s := running(t, options(t))
	over := bag(t, s, 2)
	if l := s.lookup(over); l != nil {
		_, archived := l.ends()
		<-archived
	}
	id := prepared(t, s, 100)
	s.room = func(_ string, bytes int) error {
		if bytes < spareRoom {
			t.Errorf("room for %d bytes is enough", bytes)
		}
		return syscall.ENOSPC
	}
	resumed := s.resume(t.Context(), over, control.Resume{Failed: true})
	for _, err := range []error{s.submit(t.Context(), control.Submit{ID: id}), resumed} {
		if !errors.Is(err, syscall.ENOSPC) || job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "no room for this job") {
			t.Errorf("without room the error is %v", err)
		}
	}
	if _, err := os.Stat(s.home.JournalOf(id)); err == nil || s.lookup(id) != nil {
		t.Error("a job that was refused is recorded")
	}
	s.room = func(string, int) error { return nil }
	if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
		t.Errorf("with room the job is not taken: %v", err)
	}
}

// watched returns the first line of a watch.
func watched(t *testing.T, s *Server, id job.ID) (w control.Watched) {
	t.Helper()
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue("id", string(id))
		s.ofJob(s.watchJob)(w, r)
	}))
	defer at.Close()
	resp, err := http.Get(at.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&w); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFullDisk: a coordinator whose disk is full while jobs run goes on, tells who waits, takes no further job, and records
// everything in its order once there is room.
func TestFullDisk(t *testing.T) {
	s := running(t, options(t))
	var full atomic.Bool
	full.Store(true)
	if err := s.call(func() error {
		s.record = func(at job.Time, records ...event.Record) (uint64, error) {
			if full.Load() {
				return 0, errors.Join(journal.ErrFull, syscall.EDQUOT)
			}
			return s.journals.Append(at, records...)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	id, other := prepared(t, s, 2), prepared(t, s, 1)
	if err := s.submit(t.Context(), control.Submit{ID: id}); job.ClassOf(err) != job.Transient || !strings.Contains(err.Error(), "what was asked for waits") {
		t.Errorf("who waits for a full disk is told %v", err)
	}
	if err := s.submit(t.Context(), control.Submit{ID: other}); job.ClassOf(err) != job.User || !errors.Is(err, journal.ErrFull) {
		t.Errorf("a further job gets %v", err)
	}
	if err := s.call(func() error { return nil }); job.ClassOf(err) != job.Transient || s.journals.Has(id) {
		t.Errorf("%v, and the job is recorded: %v", err, s.journals.Has(id))
	}
	if h, err := s.hello(nil); err != nil || !h.(control.Hello).Full {
		t.Errorf("of a full disk the coordinator says %+v, %v", h, err)
	}
	if jobs, err := s.listJobs(httptest.NewRequest("", "/v1/jobs", nil)); err != nil || len(jobs.(control.Jobs).Jobs) != 1 {
		t.Errorf("meanwhile the jobs are %+v, %v", jobs, err)
	}
	if w := watched(t, s, id); !w.Full {
		t.Errorf("who watches a job meanwhile is told %+v", w)
	}
	full.Store(false)
	if err := s.call(func() error { return nil }); err != nil || !s.journals.Has(id) || s.full.Load() {
		t.Errorf("with room: %v, and the job is recorded: %v", err, s.journals.Has(id))
	}
	if err := s.submit(t.Context(), control.Submit{ID: other}); err != nil {
		t.Errorf("with room a further job gets %v", err)
	}
}

// TestJournalWithoutRecords: jobs whose journals lost their records in a crash of the machine can be submitted again.
func TestJournalWithoutRecords(t *testing.T) {
	opts := options(t)
	s, _ := stopped(t, opts)
	cut := map[job.ID]int64{prepared(t, s, 1): 0, prepared(t, s, 1): 7, prepared(t, s, 1): 16}
	for id, size := range cut {
		j, err := journal.Create(s.home.JournalOf(id))
		if err == nil {
			err = errors.Join(j.Close(), os.Truncate(s.home.JournalOf(id), size))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.own.Release()
	s = running(t, opts)
	for id, size := range cut {
		err := s.submit(t.Context(), control.Submit{ID: id})
		if _, over := s.archived(id); err != nil || s.lookup(id) == nil && !over { // its backend is not there, so it ends at once
			t.Errorf("with %d bytes of its journal the job is not taken: %v", size, err)
		}
	}
}

// TestCancelledMeanwhile: a job that was cancelled before the coordinator had it, or while it was about to take it on, is refused, and the
// coordinator goes on.
func TestCancelledMeanwhile(t *testing.T) {
	s := running(t, options(t))
	remove := func(id job.ID) {
		t.Helper()
		if err := s.home.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	before, later := prepared(t, s, 1), prepared(t, s, 1)
	remove(before)
	s.room = func(string, int) error {
		remove(later)
		return nil
	}
	for _, id := range []job.ID{before, later} {
		if err := s.submit(t.Context(), control.Submit{ID: id}); err == nil || !strings.Contains(err.Error(), "it was cancelled before") {
			t.Errorf("%s: %v", id, err)
		}
		if s.lookup(id) != nil {
			t.Errorf("%s is in memory", id)
		}
	}
	s.room = func(string, int) error { return nil }
	if err := s.submit(t.Context(), control.Submit{ID: prepared(t, s, 0)}); err != nil {
		t.Errorf("the next job: %v", err)
	}
}

// preparedOpen prepares an open bag.
func preparedOpen(t *testing.T, s *Server) job.ID {
	t.Helper()
	r := s.home.Run(prepared(t, s, 0))
	spec, err := r.Spec()
	if err != nil {
		t.Fatal(err)
	}
	if spec.Bag.Open = true; r.SaveSpec(spec) != nil {
		t.Fatal("the spec cannot be saved")
	}
	return r.ID
}

// TestRoomForTasks: whether there is room is asked once for the records of many tasks that are added one at a time, but again before these
// records have used up what was there, and each time once there is none.
func TestRoomForTasks(t *testing.T) {
	s := running(t, options(t))
	l := &live{run: s.home.Run(prepared(t, s, 0))}
	asked, none := 0, false
	s.room = func(string, int) error {
		asked++
		if none {
			return syscall.ENOSPC
		}
		return nil
	}
	add := func() error { return s.spacious(l, event.TasksAdded{Job: l.run.ID, N: 1}) }
	for range 100 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("for 100 tasks it was asked %d times whether there is room", asked)
	}
	none = true
	for add() == nil { // half of what was there
	}
	if err := add(); !errors.Is(err, syscall.ENOSPC) || asked != 3 {
		t.Errorf("without room a task gets %v; it was asked %d times", err, asked)
	}
	l.spare = spareRoom
	s.full.Store(true)
	if err := add(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("of a coordinator that waits for room a task gets %v", err)
	}
}

// TestSubmitWithTasks: an open bag that is submitted with its tasks has all of them and is closed, also if its command asks again, several
// times at once, and if a coordinator died after it had recorded the bag alone. With a wrong task nothing is recorded.
func TestSubmitWithTasks(t *testing.T) {
	s := running(t, options(t))
	with := func(lines ...string) control.Submit {
		req := control.Submit{ID: preparedOpen(t, s), First: &control.Add{From: "in", Key: "k"}, Close: true}
		for _, l := range lines {
			req.First.Tasks = append(req.First.Tasks, json.RawMessage(l))
		}
		return req
	}
	three := []string{`{"name":"a"}`, `{"name":"b","after":["a"]}`, `{"mem":"100K"}`}
	wrong := with(`{"name":"a"}`, `{"cpus":9999}`)
	if err := s.submit(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "in:2: the task needs 9,999 cores") {
		t.Errorf("a task that fits no node: %v", err)
	}
	if err := s.submit(t.Context(), with(`{"name":"a"}`, `{"ranks":9999}`)); err == nil || !strings.Contains(err.Error(), "in:2: the task needs 9,999 ranks of 1 core") {
		t.Errorf("a gang that fits on no nodes: %v", err)
	}
	if _, err := os.Stat(s.home.JournalOf(wrong.ID)); err == nil || s.lookup(wrong.ID) != nil {
		t.Error("a bag that was refused is recorded")
	}
	whole, alone := with(three...), with(three...)
	if err := s.submit(t.Context(), control.Submit{ID: alone.ID}); err != nil {
		t.Fatal(err)
	}
	for _, req := range []control.Submit{alone, whole, whole, alone} {
		var calls errgroup.Group
		for range 8 {
			calls.Go(func() error { return s.submit(t.Context(), req) })
		}
		if err := calls.Wait(); err != nil {
			t.Fatal(err)
		}
		var tasks, closed int
		if _, err := journal.Replay(s.home.JournalOf(req.ID), func(e event.Entry) error {
			switch r := e.Record.(type) {
			case event.TasksAdded:
				tasks += r.N
			case event.BagClosed:
				closed++
			}
			return nil
		}); err != nil || tasks != 3 || closed != 1 {
			t.Errorf("%d tasks were added, and the bag was closed %d times, %v", tasks, closed, err)
		}
	}
}
