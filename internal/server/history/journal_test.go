package history

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestNoSharedMemory: a database of an earlier berth, which used write-ahead logging, is
// turned to a rollback journal with all that is in its log, and stays so: nothing is left
// beside it that only processes of one machine can share.
func TestNoSharedMemory(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path)
	save(t, s, aRun("bag-1", 1), measured(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "PRAGMA journal_mode = WAL; UPDATE runs SET name = 'from the log'")
	s = mustOpen(t, path)
	var mode string
	if err := s.db.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "truncate" {
		t.Errorf("mode %q, %v", mode, err)
	}
	if r, ok, err := s.Run(t.Context(), "bag-1"); err != nil || !ok || r.Name != "from the log" {
		t.Errorf("got %+v, %v, %v", r, ok, err)
	}
	for _, beside := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + beside); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", beside, err)
		}
	}
}
