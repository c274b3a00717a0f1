package command

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestRunExitCodes: what berth run finds wrong is never taken for a number of failed tasks, and for a MapReduce
// job has the code that berth mapreduce has for it.
func TestRunExitCodes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		text string
		code int
	}{
		"unknown-key.toml": {"kind = \"bag\"\n[bag]\ncomand = \"x\"\n", 255},
		"no-entries.toml":  {"kind = \"bag\"\n[bag]\ncommand = \"true\"\neach_line = \"/nosuch/file\"\n", 255},
		"no-output.toml":   {"kind = \"mapreduce\"\n[mapreduce]\ninput = \"/\"\noutput = \"x\"\nmapper = \"cat\"\ninputformat = \"No\"\n", 3},
		"missing.toml":     {"", 255},
	} {
		path := filepath.Join(dir, name)
		if tt.text != "" {
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		root := Root(Extra{})
		root.SetArgs([]string{"run", path})
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.Execute(); err == nil || ExitCode(err) != tt.code {
			t.Errorf("%s: exit %d, want %d: %v", name, ExitCode(err), tt.code, err)
		}
	}
}

// TestWaitExitCodes: a job that is not there is no failed task.
func TestWaitExitCodes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, args := range [][]string{{"wait", "bag-7"}, {"resume", "bag-7"}, {"progress", "--follow", "bag-7"}} {
		root := Root(Extra{})
		root.SetArgs(args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.Execute(); err == nil || ExitCode(err) != 255 {
			t.Errorf("berth %q: exit %d: %v", args, ExitCode(err), err)
		}
	}
}

// TestNotStartedExitCodes: a job that did not start in time has a code of its own, whether a plan refused it or it has waited.
func TestNotStartedExitCodes(t *testing.T) {
	for kind, want := range map[job.Kind]int{job.Bag: 102, job.MapReduce: 7} {
		var v report.JobView
		v.Kind, v.State, v.Code = kind, event.StateFailed, "not_started"
		if code := ExitCode(jobExit(v)); code != want {
			t.Errorf("%s that waited: %d, want %d", kind, code, want)
		}
		if code := ExitCode(kindError(kind, &job.Error{Class: job.User, Code: job.CodeNotStarted})); code != want {
			t.Errorf("%s that was refused: %d, want %d", kind, code, want)
		}
	}
}
