package journal

import (
	"errors"
	"os"
	"path/filepath"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// compacted is the suffix of a compacted journal's name until the journal replaces the old one.
const compacted = ".compacted"

// Compact rewrites a journal with only those entries for which keep returns true. The entries
// keep their sequence numbers. Compact is called after Replay and before the first Append. The
// old journal is replaced once the new one is complete and on the disk, so a process that is
// killed at any moment leaves one of them. If an error is returned, the old one is unchanged.
func (s *Set) Compact(id job.ID, keep func(event.Entry) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(id)
	if s.open[id] != nil {
		return job.FatalError(path, "the journal is in use and cannot be compacted", nil)
	}
	rec, err := compact(path, keep)
	if err != nil {
		return ioError(path, "compact the journal", errors.Join(err, os.RemoveAll(path+compacted)))
	}
	s.known[id] = rec
	return nil
}

// compact writes the compacted journal and replaces the old one by it.
func compact(path string, keep func(event.Entry) bool) (rec Recovery, err error) {
	if err := os.RemoveAll(path + compacted); err != nil { // left by a process that was killed while it compacted
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
