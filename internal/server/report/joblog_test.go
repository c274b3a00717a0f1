package report

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
)

func bagRow(task int, outcome string, start time.Time, took time.Duration) AttemptRow {
	return AttemptRow{Task: task, Attempt: 1, Outcome: outcome, Started: start.Add(-time.Second), Ended: start.Add(took), Phases: []PhaseRow{
		{Phase: "fetch", Start: start.Add(-time.Second), End: start, Whole: true},
		{Phase: "compute", Start: start, End: start.Add(took), Whole: true, BytesOut: 2},
	}}
}

// TestJoblogLines compares with lines that GNU parallel 20221122 wrote for the same runs.
func TestJoblogLines(t *testing.T) {
	at := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	row := func(task int, ms int64, took time.Duration, change func(*AttemptRow)) AttemptRow {
		r := bagRow(task, "done", at(ms), took)
		if change != nil {
			change(&r)
		}
		return r
	}
	for name, c := range map[string]struct {
		row     AttemptRow
		command string
		want    string
	}{
		"done":      {row(0, 1795220258547, 0, nil), "echo 1; test 1 != 2", "1\t:\t1795220258.547\t     0.000\t0\t2\t0\t0\techo 1; test 1 != 2\n"},
		"exit 1":    {row(1, 1795220258551, 3*time.Millisecond, func(r *AttemptRow) { r.Outcome, r.Exit = "failed", 1 }), "echo 2; test 2 != 2", "2\t:\t1795220258.551\t     0.003\t0\t2\t1\t0\techo 2; test 2 != 2\n"},
		"signal":    {row(0, 1795220258700, 0, func(r *AttemptRow) { r.Outcome, r.Signal = "failed", 9; r.Phases[1].BytesOut = 0 }), "kill -9 $$ 1", "1\t:\t1795220258.700\t     0.000\t0\t0\t0\t9\tkill -9 $$ 1\n"},
		"timeout":   {row(0, 1795220258828, 1213*time.Millisecond, func(r *AttemptRow) { r.Outcome, r.Exit, r.Signal = "failed", -1, 15; r.Phases[1].BytesOut = 0 }), "sleep 5 1", "1\t:\t1795220258.828\t     1.213\t0\t0\t-1\t15\tsleep 5 1\n"},
		"no reason": {row(0, 1000, 0, func(r *AttemptRow) { r.Outcome = "broken" }), "x", "1\t:\t1.000\t     0.000\t0\t2\t-1\t0\tx\n"},
		"line ends": {row(0, 1005, 0, func(r *AttemptRow) { r.Host = "n1" }), "a\nb", "1\tn1\t1.005\t     0.000\t0\t2\t0\t0\ta\x00b\n"},
		"never ran": {AttemptRow{Task: 4, Outcome: "failed", Started: at(2000), Ended: at(3500)}, "x", "5\t:\t2.000\t     1.500\t0\t0\t-1\t0\tx\n"},
	} {
		if got := string(joblogLine(c.row, c.command)); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}

// TestJoblogGoesOn: a log that is gone on with has each attempt once, whatever of the
// journal is told again, and no half line.
func TestJoblogGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	began := time.UnixMilli(5_000_000).UTC()
	rows := []AttemptRow{
		bagRow(0, "done", began, time.Second), bagRow(1, "failed", began, time.Second),
		bagRow(2, "lost", began, time.Second), bagRow(3, "killed", began, time.Second),
		bagRow(1, "done", began.Add(2*time.Second), time.Second),
	}
	write := func(l *Joblog, err error, rows []AttemptRow) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if err := l.Attempt(r, "cmd"); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := ContinueJoblog(path) // there is none: it is begun
	write(l, err, rows)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range want {
		if err := os.WriteFile(path, want[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := ContinueJoblog(path)
		write(l, err, rows)
		if got, _ := os.ReadFile(path); string(got) != string(want) {
			t.Fatalf("cut at %d:\ngot  %q\nwant %q", cut, got, want)
		}
	}
	if err := CreateJoblog(path); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != joblogHeader {
		t.Errorf("a log begun anew holds %q", got)
	}
}

// TestJoblogFolder: folders of the log are made, as those of the tasks' output are.
func TestJoblogFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "log")
	if err := CreateJoblog(path); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != joblogHeader {
		t.Errorf("the log holds %q", got)
	}
}

func TestJoblogCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := CreateJoblog(filepath.Join(file, "log"))
	var e *job.Error
	if !errors.As(err, &e) || e.Code != job.CodeIO || e.Do == "" {
		t.Errorf("got %v", err)
	}
}

// TestJoblogToAPipe: creating a log leaves a named pipe alone, and each reader is given a
// whole log, with its header and with attempts that an earlier reader was given.
func TestJoblogToAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CreateJoblog(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wrote := make(chan error, 1)
		go func() {
			l, err := ContinueJoblog(path)
			if err == nil {
				err = errors.Join(l.Attempt(bagRow(0, "done", time.UnixMilli(1000).UTC(), 0), "cmd"), l.Close())
			}
			wrote <- err
		}()
		got, err := os.ReadFile(path)
		if err = errors.Join(err, <-wrote); err != nil {
			t.Fatal(err)
		}
		if want := joblogHeader + "1\t:\t1.000\t     0.000\t0\t2\t0\t0\tcmd\n"; string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
