package history

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// check fails unless err is of that kind, tells the file and is told as one line.
func check(t *testing.T, err, kind error, path string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	var e *job.Error
	if !errors.As(err, &e) || e.Where != path {
		t.Errorf("%v does not name %s", err, path)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%q is more than a line", err)
	}
}

func TestOpenWhatIsNoDatabase(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	check(t, err, ErrCorrupt, path)
}

// TestDamagedDatabase overwrites every page but the first.
func TestDamagedDatabase(t *testing.T) {
	path := newPath(t)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, aRun("bag-1", 1), measured(1, 2, 3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	if len(b) <= page {
		t.Fatalf("only %d bytes", len(b))
	}
	for i := page; i < len(b); i++ {
		b[i] = 0xa5
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path)
	_, err = s.Profile(t.Context(), "sim-1", "cpu/2")
	check(t, err, ErrCorrupt, path)
	_, err = s.Runs(t.Context(), 0)
	check(t, err, ErrCorrupt, path)
	check(t, saveRun(t.Context(), s, aRun("bag-2", 2), measured(1)), ErrCorrupt, path)
}

// TestDamagedMeasure: rows that SQLite takes for sound, but that hold what no run leaves.
func TestDamagedMeasure(t *testing.T) {
	for name, change := range map[string]string{
		"histogram":           `UPDATE measures SET histogram = x'0102ff'`,
		"count":               `UPDATE measures SET samples = samples + 1`,
		"negative":            `UPDATE measures SET min_s = -1`,
		"extremes":            `UPDATE measures SET min_s = max_s + 1`,
		"sum beyond a number": `UPDATE measures SET sum_s = 9e999`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := mustOpen(t, path)
			save(t, s, aRun("bag-1", 1), measured(1, 2, 3))
			raw(t, path, change)
			p, err := s.Profile(t.Context(), "sim-1", "cpu/2")
			if p != nil {
				t.Errorf("got %+v", p)
			}
			check(t, err, ErrCorrupt, path)
		})
	}
}

func TestNewerDatabase(t *testing.T) {
	path := newPath(t)
	raw(t, path, `PRAGMA user_version = 99`)
	_, err := Open(t.Context(), path)
	check(t, err, ErrNewer, path)
}

// TestLockedDatabase: while another connection holds the write lock, saving gives up
// in the end, and reading goes on.
func TestLockedDatabase(t *testing.T) {
	path := newPath(t)
	holder, s := mustOpen(t, path), mustOpen(t, path)
	save(t, s, aRun("bag-1", 1), measured(1))
	if _, err := holder.db.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(`PRAGMA busy_timeout = 1`); err != nil { // the test shall not wait for seconds
		t.Fatal(err)
	}
	check(t, saveRun(t.Context(), s, aRun("bag-2", 2), measured(1)), ErrLocked, path)
	if p, err := s.Profile(t.Context(), "sim-1", "cpu/2"); err != nil || p.Runs != 1 {
		t.Errorf("reading: %+v, %v", p, err)
	}
	if _, err := holder.db.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	save(t, s, aRun("bag-2", 2), measured(1))
}

// TestSaveHolds: once Save has returned nobody reads the history without its runs.
func TestSaveHolds(t *testing.T) {
	path := newPath(t)
	s, reader := mustOpen(t, path), mustOpen(t, path)
	if _, err := reader.db.Exec(`PRAGMA busy_timeout = 1`); err != nil { // the test shall not wait for seconds
		t.Fatal(err)
	}
	commit, err := s.Save(t.Context(), Measured{aRun("bag-1", 1), measured(1)}, Measured{aRun("bag-2", 2), measured(1)})
	if err != nil {
		t.Fatal(err)
	}
	_, early := reader.Profile(t.Context(), "sim-1", "cpu/2")
	check(t, early, ErrLocked, path)
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	if p, err := reader.Profile(t.Context(), "sim-1", "cpu/2"); err != nil || p.Runs != 2 {
		t.Errorf("then: %+v, %v", p, err)
	}
}

func TestCancelledContext(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := saveRun(ctx, s, aRun("bag-1", 1), measured(1))
	check(t, err, ErrUnusable, path)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say why", err)
	}
	if runs, err := s.Runs(t.Context(), 0); err != nil || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
}

func TestNoSuchFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "berth.db")
	_, err := Open(t.Context(), path)
	check(t, err, ErrUnusable, path)
}
