package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/disk"
	"berth/internal/event"
	"berth/internal/job"
)

// compacted is how the name of a compacted journal ends until it takes the old one's place.
const compacted = ".compacted"

// Compact rewrites a journal with only those of its entries that keep wants, which have their
// numbers still. It is called after Replay and before anything is appended. The old journal
// stands until the new one is whole and durable: a process killed at any moment leaves one or
// the other. On an error the old one stands.
func (s *Set) Compact(id job.ID, keep func(event.Entry) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(id)
	if s.open[id] != nil {
		return &job.Error{Class: job.Fatal, Where: path, What: "the journal is in use and cannot be compacted"}
	}
	rec, err := compact(path, keep)
	if err != nil {
		return ioError(path, "compact the journal", errors.Join(err, remove(path+compacted)))
	}
	s.known[id] = rec
	return nil
}

// compact writes the compacted journal and puts it in the place of the old one.
func compact(path string, keep func(event.Entry) bool) (rec Recovery, err error) {
	if err := remove(path + compacted); err != nil { // an earlier process was killed over it
		return rec, err
	}
	j, err := Create(path + compacted)
	if err != nil {
		return rec, err
	}
	_, err = Replay(path, func(e event.Entry) error {
		if !keep(e) {
			return nil
		}
		rec.Entries++
		rec.LastSeq = e.Seq
		return j.Append(e)
	})
	rec.End = j.offset()
	if err = errors.Join(err, j.Close()); err != nil {
		return rec, err
	}
	if err := os.Rename(path+compacted, path); err != nil {
		return rec, err
	}
	return rec, disk.Sync(filepath.Dir(path))
}

// remove removes a file that need not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
