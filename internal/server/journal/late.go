package journal

import (
	"errors"
	"io"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// NumberFrom makes next the least number of the next entry. A coordinator replays only the
// journals of unfinished jobs, so it does not see all numbers that were used. If it begins
// with the microseconds of the present time, it uses no number twice.
func (s *Set) NumberFrom(next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next > 0 {
		s.last = max(s.last, next-1)
	}
}

// Since calls fn for the entries of a journal that begin at or behind the offset from (0: all entries). It returns the
// offset from which the next call continues. The journal may be in use: an entry that is not complete yet is left to the next call.
// If fn returns io.EOF, that was the last entry of this call.
func Since(path string, from int64, fn func(event.Entry) error) (next int64, err error) {
	r, err := openReader(path, from)
	if err != nil {
		return from, err
	}
	if _, err := r.each(fn); err != nil && !errors.Is(err, io.EOF) {
		return from, err
	}
	return r.end, nil
}

// Recall calls fn for every entry of a journal that was not replayed at the start, as its
// job had ended. After it the journal can be appended to again.
func (s *Set) Recall(id job.ID, fn func(event.Entry) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := Replay(s.path(id), fn)
	if err != nil {
		return err
	}
	s.known[id] = rec
	s.last = max(s.last, rec.LastSeq)
	return nil
}

// Has reports whether the job's journal is in the set: it was replayed, recalled or appended to.
func (s *Set) Has(id job.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.known[id]
	return known || s.open[id] != nil
}

// Dismiss removes a retired journal from the set. Recall brings it back.
func (s *Set) Dismiss(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}
