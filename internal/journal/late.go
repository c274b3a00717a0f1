package journal

import (
	"io"

	"berth/internal/event"
	"berth/internal/job"
)

// NumberFrom lets the next entry have at least that number. A coordinator that
// replays only the journals of unfinished jobs does not see all numbers that were
// given; one that begins at the microseconds of the present time gives none twice.
func (s *Set) NumberFrom(next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next > 0 {
		s.last = max(s.last, next-1)
	}
}

// Since calls fn for the entries of a journal that begin at the offset from or behind it, 0 for all, and returns the offset at which the next call
// goes on. The journal may be in use: what is not whole yet is left to the next call.
func Since(path string, from int64, fn func(event.Entry) error) (next int64, err error) {
	r, err := openReader(path)
	if err != nil {
		return from, err
	}
	defer r.close()
	if r.scan.in == nil || r.scan.size <= from {
		return from, nil
	}
	r.scan.limit(from, r.scan.size)
	rec, err := r.each(fn)
	if err != nil {
		return from, err
	}
	return rec.End, nil
}

// Recall calls fn for every entry of a journal that was not replayed at the start,
// that of a job which had ended, so that it can be appended to again.
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

// Since calls fn for the entries of a job's journal that begin at the offset from or behind
// it, 0 for all, and returns the offset at which the next call goes on. A journal that the
// set does not have yet has no entries. Appends are not held up while fn runs: what is
// appended meanwhile is left to the next call.
func (s *Set) Since(id job.ID, from int64, fn func(event.Entry) error) (next int64, err error) {
	end := s.end(id)
	if end <= from {
		return from, nil
	}
	r, err := openReader(s.path(id))
	if err != nil {
		return from, err
	}
	defer r.close()
	r.scan.limit(from, end)
	rec, err := r.each(fn)
	if err == nil && rec.End != end {
		err = undecodable(s.path(id), rec.End, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return from, err
	}
	return end, nil
}

// end returns where a journal ends that the set has, 0 for one that it does not have.
// What an Append that failed has left is not counted.
func (s *Set) end(id job.ID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.open[id]; j != nil {
		return j.offset()
	}
	return s.known[id].End
}

// Has reports whether the set has the job's journal: it was replayed, recalled or begun.
func (s *Set) Has(id job.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.known[id]
	return known || s.open[id] != nil
}

// Dismiss lets the set forget a journal that was retired. It can be recalled.
func (s *Set) Dismiss(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}
