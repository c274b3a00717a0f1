package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// recorded is a run whose journal a test writes.
type recorded struct {
	statedir.Run
	t       *testing.T
	journal *journal.Journal
	seq     uint64
	plan    plan.Plan
}

func record(t *testing.T, h statedir.Home) *recorded {
	t.Helper()
	id, err := h.NewRun(job.Bag, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{Run: id, t: t, plan: plan.Plan{Kind: job.Bag, Tasks: 3, Reasons: []string{"three at once"}, Notes: []string{}}}
	spec := &job.Spec{ID: r.ID, Name: "recorded", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"true"}}}
	if err := r.Save(spec, statedir.Tasks{Entries: statedir.EntriesOf(make([]job.Entry, 3)...)}); err != nil {
		t.Fatal(err)
	}
	r.savePlan()
	if r.journal, err = journal.Create(r.Journal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.journal.Close() })
	r.tell(1, event.JobSubmitted{Work: job.Work{ID: r.ID, Name: "recorded", Kind: job.Bag, Tasks: 3}})
	return r
}

func (r *recorded) savePlan() {
	r.t.Helper()
	if err := statedir.WriteJSON(r.Plan(), r.plan); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorded) tell(at job.Time, record event.Record) {
	r.t.Helper()
	r.seq++
	if err := r.journal.Append(event.Entry{Seq: r.seq, At: at * second, Record: record}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorded) attempt(task, n int) job.Attempt { return job.Attempt{Job: r.ID, Task: task, N: n} }

// recordedServer serves what folders of runs say.
func recordedServer(t *testing.T) (*Server, *recorded) {
	h := statedir.Home{Dir: t.TempDir()}
	if err := os.MkdirAll(h.Runs(), 0o700); err != nil {
		t.Fatal(err)
	}
	s := New(Source{
		Home: h,
		List: func(context.Context) ([]report.JobView, int, error) { return nil, 0, nil },
		View: func(_ context.Context, r statedir.Run) (report.JobView, error) { return rundir.View(r) },
	})
	return s, record(t, h)
}

// document returns what the page of the run shows.
func document(t *testing.T, s *Server, query string) (d jobDocument, problem string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.whole(w, httptest.NewRequest("", "/view?"+query, nil))
	var told struct{ Problem string }
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d, told.Problem
}

// TestFollowing: a page sees what comes to a journal, and the plan of a job that was resumed.
func TestFollowing(t *testing.T) {
	s, r := recordedServer(t)
	query := "page=job&id=" + string(r.ID)
	if d, _ := document(t, s, query); d.Timeline.Attempts != 0 || len(d.Timeline.Lanes) != 0 || d.Plan.Reasons[0] != "three at once" {
		t.Errorf("before the first attempt: %+v", d)
	}
	r.tell(2, event.AttemptStarted{Attempt: r.attempt(0, 1), Node: "a1/0"})
	r.tell(4, event.AttemptEnded{Attempt: r.attempt(0, 1), Outcome: event.Done, Stats: []job.PhaseStat{
		{Phase: job.PhaseCompute, Start: 2 * second, End: 4 * second, CPU: time.Second, BytesIn: 100},
	}})
	d, _ := document(t, s, query)
	if d.Timeline.Attempts != 1 || d.Job.TasksDone != 1 || len(d.Usage.Series) != 1 || d.Usage.Nodes[0].Of["cpu"].Mean != 0.5 {
		t.Errorf("after the first attempt: %+v", d)
	}
	r.plan.Reasons = []string{"one at once"}
	r.savePlan()
	r.tell(5, event.JobEnded{Job: r.ID, State: event.StateCancelled})
	r.tell(6, event.JobResumed{Job: r.ID})
	if d, _ = document(t, s, query); d.Plan.Reasons[0] != "one at once" {
		t.Errorf("after a resume the plan is %q", d.Plan.Reasons)
	}
	part, _ := document(t, s, query+"&from=2000&to=3000")
	if part.Timeline.Start != 2000 || part.Timeline.Step*int64(part.Timeline.Steps) < 1000 || part.Timeline.Step*int64(part.Timeline.Steps) > 1010 {
		t.Errorf("a part of the time: %+v", part.Timeline)
	}
	if _, problem := document(t, s, "page=job&id=bag-77"); problem == "" {
		t.Error("there is no bag-77")
	}
}

// TestDamagedJournal: what cannot be read is told, and read from the beginning once it can be.
func TestDamagedJournal(t *testing.T) {
	s, r := recordedServer(t)
	query := "page=job&id=" + string(r.ID)
	good, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	bad := append([]byte("broken"), good[6:]...)
	if err := os.WriteFile(r.Journal(), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problem := document(t, s, query); !strings.Contains(problem, "journal") {
		t.Errorf("the problem is %q", problem)
	}
	if err := os.WriteFile(r.Journal(), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if d, problem := document(t, s, query); problem != "" || d.Job.ID != r.ID {
		t.Errorf("%+v, %q", d, problem)
	}
}

// TestLongJournal: a page does not wait for the whole journal of a large job. It gets what can be read in a while, is told that this is not
// all, and gets the rest at once; who asks for a whole document gets it whole.
func TestLongJournal(t *testing.T) {
	const attempts = inARow + inARow/4
	s, r := recordedServer(t)
	s.documents.View = func(_ context.Context, r statedir.Run) (report.JobView, error) {
		return report.JobView{Status: report.Status{ID: r.ID, State: event.StateRunning}, At: time.Unix(1e9, 0)}, nil
	}
	for n := range attempts {
		at := r.attempt(0, n+1)
		r.tell(job.Time(n+2), event.AttemptStarted{Attempt: at, Node: "a1/0"})
		r.tell(job.Time(n+3), event.AttemptEnded{Attempt: at, Outcome: event.Lost})
	}
	s.documents.readTime = time.Nanosecond
	query := url.Values{"page": {"job"}, "id": {string(r.ID)}}
	for want := inARow / 2; ; want += inARow / 2 {
		made, again, err := s.documents.make(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		d := made.(jobDocument)
		if d.Timeline.Attempts != min(want, attempts) || d.Reading != (want < attempts) || d.Reading != (again == everyPart) {
			t.Fatalf("%d attempts of %d, reading %v, again after %v", d.Timeline.Attempts, min(want, attempts), d.Reading, again)
		}
		if !d.Reading {
			break
		}
		if end := d.Timeline.Start + d.Timeline.Step*int64(d.Timeline.Steps); end > int64(want+20)*1000 {
			t.Errorf("what is not read is shown as a time in which nothing ran: until %d ms", end)
		}
	}
	s.documents.drop(r.ID)
	if d, _ := document(t, s, query.Encode()); d.Timeline.Attempts != attempts || d.Reading {
		t.Errorf("the whole document has %d attempts, reading %v", d.Timeline.Attempts, d.Reading)
	}
}

// TestStream: a page that makes the changes it is told of has what it would have had at once.
func TestStream(t *testing.T) {
	s, r := recordedServer(t)
	served := httptest.NewServer(http.HandlerFunc(s.stream))
	defer served.Close()
	resp, err := http.Get(served.URL + "/events?page=job&id=" + string(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the stream is %q", got)
	}
	in := bufio.NewReader(resp.Body)
	kind, data := readEvent(t, in)
	var page any
	if err := json.Unmarshal(data, &page); err != nil || kind != "whole" {
		t.Fatalf("first comes %s, %v", kind, err)
	}
	r.tell(2, event.AttemptStarted{Attempt: r.attempt(0, 1), Node: "a1/0"})
	r.tell(4, event.AttemptEnded{Attempt: r.attempt(0, 1), Outcome: event.Done})
	r.tell(5, event.JobEnded{Job: r.ID, State: event.StateDone})
	for page.(map[string]any)["job"].(map[string]any)["state"] != "done" {
		kind, data = readEvent(t, in)
		var changes [][]any
		if err := json.Unmarshal(data, &changes); err != nil || kind != "changes" {
			t.Fatalf("then comes %s, %v", kind, err)
		}
		for _, c := range changes {
			page = put(page, c[0].([]any), c[1:])
		}
	}
	d, _ := document(t, s, "page=job&id="+string(r.ID))
	if want, err := tree(d); err != nil || !reflect.DeepEqual(page, want) {
		t.Errorf("the page has\n%v\nwant\n%v", page, want)
	}
}

func readEvent(t *testing.T, in *bufio.Reader) (kind string, data []byte) {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		if v, is := strings.CutPrefix(line, "event: "); is {
			kind = v
		}
		if v, is := strings.CutPrefix(line, "data: "); is {
			data = []byte(v)
		}
		if line == "" && data != nil {
			return kind, data
		}
	}
}

// TestFewStreams: more pages than there may be are refused, and those that went away make room.
func TestFewStreams(t *testing.T) {
	s, _ := recordedServer(t)
	for range maxStreams {
		s.streams <- struct{}{}
	}
	w := httptest.NewRecorder()
	s.stream(w, httptest.NewRequest("", "/events?page=jobs", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more is answered with %d", w.Code)
	}
	<-s.streams
	gone, leave := context.WithCancel(t.Context())
	leave()
	w = httptest.NewRecorder()
	if s.stream(w, httptest.NewRequest("", "/events?page=jobs", nil).WithContext(gone)); w.Code != http.StatusOK || len(s.streams) != maxStreams-1 {
		t.Errorf("answered with %d; %d streams are open", w.Code, len(s.streams))
	}
}

// TestFollowedRuns: a few runs are kept, those that were wanted last.
func TestFollowedRuns(t *testing.T) {
	s, r := recordedServer(t)
	first := r.ID
	var ids []job.ID
	for range maxFollowed {
		ids = append(ids, record(t, s.documents.Home).ID)
	}
	for _, id := range append([]job.ID{first, ids[0], first}, ids[1:]...) {
		if _, problem := document(t, s, "page=job&id="+string(id)); problem != "" {
			t.Fatal(problem)
		}
	}
	var kept []job.ID
	for _, f := range s.documents.runs {
		kept = append(kept, f.Run.ID)
	}
	if want := append([]job.ID{first}, ids[1:]...); !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v", kept, want)
	}
}
