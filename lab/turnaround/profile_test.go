package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCopyKnowledge checks that the database and the run folders are copied, and that folders that
// other processes may be changing are not read.
func TestCopyKnowledge(t *testing.T) {
	state, to := t.TempDir(), filepath.Join(t.TempDir(), "profile")
	for _, name := range []string{"berth.db", "runs/mr-1/job.json", "server/log", "scratch/node/tasks/2/file"} {
		path := filepath.Join(state, "berth", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyKnowledge(to, state); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"berth.db": true, "runs/mr-1/job.json": true, "server": false, "scratch": false} {
		if _, err := os.Stat(filepath.Join(to, "berth", name)); (err == nil) != want {
			t.Errorf("%s: copied is wanted to be %v, but: %v", name, want, err)
		}
	}
}
