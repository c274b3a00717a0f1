package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
