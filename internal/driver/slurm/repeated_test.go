package slurm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// TestRepeatedID: a job is another one than the one with this id that was submitted if it has another script and came later. A site's sbatch may
// submit a copy of the script, and accounts of the same job may differ by a clock.
func TestRepeatedID(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"batch-1a.sh": "#!/bin/sh\n", "job": "4\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := job.Time(time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC).UnixNano())
	if err := os.Chtimes(filepath.Join(dir, "job"), at.Std(), at.Std()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		script string
		after  time.Duration
		dir    string
		other  bool
	}{
		{filepath.Join(dir, "batch-1a.sh"), 0, dir, false},
		{filepath.Join(dir, "batch-1a.sh"), time.Hour, dir, false}, // queued again
		{"/elsewhere/batch-2b.sh", time.Hour, dir, true},
		{"/home/me/own.sh", time.Hour, dir, true},
		{"/var/spool/copy-of-batch", 5 * time.Second, dir, false},
		{"", time.Hour, dir, false},
		{"/home/me/own.sh", time.Hour, "", false},
		{"/home/me/own.sh", time.Hour, t.TempDir(), false},
	} {
		w := watched{state: "RUNNING", at: at.Add(c.after), script: c.script}
		if got := w.isOther(batch.Job{ID: "4", Dir: c.dir}); got != c.other {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
