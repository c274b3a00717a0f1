package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// entriesOf returns n entries of various kinds and lengths that belong to the job.
func entriesOf(id job.ID, n int) []event.Entry {
	var entries []event.Entry
	for i := range n {
		a := job.Attempt{Job: id, Task: i, N: 1}
		var r event.Record
		switch i % 4 {
		case 0:
			r = event.AttemptStarted{Attempt: a, Node: "a1/0", Through: job.PhaseStore, Commit: true}
		case 1:
			r = event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute}
		case 2:
			r = event.AttemptEnded{
				Attempt: a, Outcome: event.Failed, Exit: 3, Stderr: fmt.Sprintf("line %d\n", i*i*i),
				Stats: []job.PhaseStat{{Phase: job.PhaseFetch, Start: 5, End: job.Time(1 << i)}},
			}
		case 3:
			r = event.JobFinalizing{Job: id}
		}
		entries = append(entries, event.Entry{Seq: uint64(i + 1), At: job.Time(1e9 + i), Record: r})
	}
	return entries
}

// written makes a journal of the entries and returns its path and bytes, and where
// each entry's frame begins, the end of the file last.
func written(t testing.TB, entries []event.Entry) (path string, data []byte, starts []int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal")
	j, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		starts = append(starts, j.offset())
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	starts = append(starts, j.offset())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, data, starts
}

// replayed returns the entries that Replay hands out.
func replayed(path string) ([]event.Entry, Recovery, error) {
	var got []event.Entry
	rec, err := Replay(path, func(e event.Entry) error {
		got = append(got, e)
		return nil
	})
	return got, rec, err
}

func sameEntries(t testing.TB, got, want []event.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("entry %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

// memory is a journal file that is kept in memory.
type memory struct{ data []byte }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.data = append(m.data[:off:off], p...) // a journal only ever writes at its end
	return len(p), nil
}

func (m *memory) Truncate(size int64) error { m.data = m.data[:size]; return nil }
func (m *memory) Sync() error               { return nil }
func (m *memory) Close() error              { return nil }

// faulty is a journal file that fails as told.
type faulty struct {
	file
	room        int   // bytes that can still be written; −1: any number
	full        error // what a write says that did not find room
	truncateErr error
	syncErr     error
	syncs       int
}

func (f *faulty) WriteAt(p []byte, off int64) (int, error) {
	if f.room < 0 || len(p) <= f.room {
		return f.file.WriteAt(p, off)
	}
	n, err := f.file.WriteAt(p[:f.room], off)
	if err == nil {
		err = f.full
	}
	return n, err
}

func (f *faulty) Truncate(size int64) error {
	if f.truncateErr != nil {
		return f.truncateErr
	}
	return f.file.Truncate(size)
}

func (f *faulty) Sync() error {
	f.syncs++
	if f.syncErr != nil {
		return f.syncErr
	}
	return f.file.Sync()
}

// reopened reads a journal through and opens it for appending.
func reopened(path string) (*Journal, Recovery, error) {
	_, rec, err := replayed(path)
	if err != nil {
		return nil, Recovery{}, err
	}
	j, err := OpenAt(path, rec)
	return j, rec, err
}
