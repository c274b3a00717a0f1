package journal

import (
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
