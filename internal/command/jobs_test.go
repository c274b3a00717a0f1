package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// TestHandedIn: a run whose journal lost its first record in a crash was not taken on, so that it is handed in again. One
// whose journal has a record, or is damaged, was.
func TestHandedIn(t *testing.T) {
	r := statedir.Run{ID: "bag-1", Dir: t.TempDir()}
	if rundir.HandedIn(r) {
		t.Error("without a journal the run counts as handed in")
	}
	j, err := journal.Create(filepath.Join(r.Dir, "journal"))
	if err == nil {
		err = j.Append(event.Entry{Seq: 1, Record: event.JobEnded{Job: r.ID}})
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Journal())
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(b) + 1 {
		if err := os.WriteFile(r.Journal(), b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if want := n == len(b); rundir.HandedIn(r) != want {
			t.Errorf("with the first %d of %d bytes of its journal the run counts as handed in: %t", n, len(b), !want)
		}
	}
	if err := os.WriteFile(r.Journal(), append([]byte("x"), b[1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if !rundir.HandedIn(r) {
		t.Error("a run with a damaged journal counts as not handed in")
	}
}

// TestWithoutMissingOutput: of a bag whose tasks printed nothing no folder of output is told, as there is none; of others it is, and
// while a job runs.
func TestWithoutMissingOutput(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "bag-1")
	for _, c := range []struct {
		view report.JobView
		want string
	}{
		{report.JobView{Status: report.Status{Kind: job.Bag, State: "done"}, Output: none}, ""},
		{report.JobView{Status: report.Status{Kind: job.Bag, State: "failed"}, Output: none}, ""},
		{report.JobView{Status: report.Status{Kind: job.Bag, State: "running"}, Output: none}, none},
		{report.JobView{Status: report.Status{Kind: job.Bag, State: "done"}, Output: dir}, dir},
		{report.JobView{Status: report.Status{Kind: job.MapReduce, State: "done"}, Output: none}, none},
	} {
		if got := withoutMissingOutput(c.view).Output; got != c.want {
			t.Errorf("%s %s: %q, want %q", c.view.Kind, c.view.State, got, c.want)
		}
	}
}

// TestServerText: numbers of jobs and workers are counted in words that fit them.
func TestServerText(t *testing.T) {
	text := serverText(control.Server{Running: true, Hello: control.Hello{Jobs: 1, Nodes: 2}})
	if !strings.Contains(text, " 1 job not over, ") || !strings.Contains(text, " 2 workers, ") {
		t.Error(text)
	}
}

// TestListedAlike: whatever the coordinator tells of the runs that are over, all, some, none, as one of an earlier version does, or one that is gone,
// the same jobs are listed, and none is hidden. So they are if its answer is cut off.
func TestListedAlike(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := statedir.Open()
	if err != nil {
		t.Fatal(err)
	}
	began, at := time.Unix(1_000_000_000, 0), map[job.ID]int64{"bag-99": 7}
	for n := range 6 {
		r, err := h.NewRun(job.Bag, nil)
		if err == nil && n != 2 && n != 5 { // the third is damaged, and the last one at the coordinator
			ended := began.Add(time.Duration(n) * time.Minute)
			err = errors.Join(r.WriteSummary(report.JobView{Status: report.Status{ID: r.ID, State: event.StateDone}, Submitted: began, Ended: ended}), r.MarkArchived(),
				os.Chtimes(r.Summary(), ended, ended))
			at[r.ID] = ended.UnixNano()
		}
		if err := errors.Join(err, os.WriteFile(r.Plan(), []byte("{"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var answer string
	l, err := control.Listen(h.Socket())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	for what, filed := range map[string][]job.ID{
		"all": {"bag-1", "bag-2", "bag-4", "bag-5"}, "some": {"bag-5", "bag-1"}, "none": {}, "one that is gone": {"bag-99", "bag-2"}, "an earlier version": nil,
	} {
		list := control.Listed{Jobs: control.Jobs{Jobs: []report.JobView{{Status: report.Status{ID: "bag-6", State: event.StateRunning}}}}}
		for _, id := range filed {
			list.Filed.IDs, list.Filed.At = append(list.Filed.IDs, id), append(list.Filed.At, at[id])
		}
		b, err := json.Marshal(list)
		if filed == nil {
			b, err = json.Marshal(list.Jobs)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []bool{false, true} {
			want := "bag-3 damaged, bag-6 running, bag-5 done, bag-4 done, and 2"
			if answer = string(b); cut {
				answer, want = answer[:len(answer)-3], "bag-3 damaged, bag-6 damaged, bag-5 done, bag-4 done, and 2"
			}
			views, more, err := (&selection{Limit: 2}).views(t.Context(), h)
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for _, v := range views {
				words = append(words, string(v.ID)+" "+string(v.State))
			}
			slices.Sort(words[:2]) // in whatever order those that are not over come
			if got := fmt.Sprintf("%s, and %d", strings.Join(words, ", "), more); got != want {
				t.Errorf("%s, cut off: %t: %s, want %s", what, cut, got, want)
			}
		}
	}
}
