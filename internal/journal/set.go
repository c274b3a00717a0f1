package journal

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"berth/internal/event"
	"berth/internal/job"
)

// Set holds a coordinator's journals: one a job, and one for nodes and allocations,
// which has the empty job ID. It numbers the entries over all of them. Its methods
// may be called from several goroutines.
type Set struct {
	path func(job.ID) string

	mu     sync.Mutex
	last   uint64              // number of the last entry
	open   map[job.ID]*Journal // those appended to and not retired
	known  map[job.ID]Recovery // those read or retired, to be opened without reading them again
	batch  []event.Entry       // of the last Append, used again
	before map[*Journal]int64  // where the journals ended before the Append under way
}

// NewSet returns a set whose journals are the files that path names; path("") is
// the one for nodes and allocations. Files are made when they are first appended to;
// their folders must be there.
func NewSet(path func(job.ID) string) *Set {
	return &Set{
		path: path, open: map[job.ID]*Journal{}, known: map[job.ID]Recovery{}, before: map[*Journal]int64{},
	}
}

// Replay calls fn for every entry of the given jobs' journals and of the one for
// nodes and allocations, in the order in which they were appended, and lets the set
// number on from there. A journal that does not exist has no entries. It is called
// once, before the first Append. It returns the bytes of torn tails, by job.
func (s *Set) Replay(jobs []job.ID, fn func(event.Entry) error) (torn map[job.ID]int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := newMerge(append([]job.ID{""}, jobs...), s.path)
	if err != nil {
		return nil, err
	}
	defer m.close()
	for {
		e, err := m.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return nil, err
		}
	}
	torn = map[job.ID]int64{}
	for id, rec := range m.found {
		s.known[id] = rec
		s.last = max(s.last, rec.LastSeq)
		if rec.TruncatedBytes > 0 {
			torn[id] = rec.TruncatedBytes
		}
	}
	return torn, nil
}

// Append gives the records the next numbers, writes each to the journal of its job,
// and returns the number of the first. Records are written in their order, with one
// write(2) for neighbours of one journal; so a process killed at any moment leaves a
// beginning of the batch, also where the batch goes to several journals.
//
// On an error nothing is kept, and the caller either appends the same records again
// or stops; what comes after them must not be written without them.
func (s *Set) Append(at job.Time, records ...event.Record) (first uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.last + 1
	clear(s.before)
	for len(records) > 0 {
		n := sameJournal(records)
		if err := s.appendRun(at, records[:n]); err != nil {
			err = errors.Join(err, s.takeBack())
			s.last = first - 1
			return 0, err
		}
		records = records[n:]
	}
	return first, nil
}

// sameJournal returns how many of the first records go to one journal.
func sameJournal(records []event.Record) int {
	id := records[0].Of()
	n := 1
	for n < len(records) && records[n].Of() == id {
		n++
	}
	return n
}

// appendRun appends records that all go to one journal.
func (s *Set) appendRun(at job.Time, records []event.Record) error {
	j, err := s.journal(records[0].Of())
	if err != nil {
		return err
	}
	if _, ok := s.before[j]; !ok {
		s.before[j] = j.offset()
	}
	s.batch = s.batch[:0]
	for i, r := range records {
		s.batch = append(s.batch, event.Entry{Seq: s.last + 1 + uint64(i), At: at, Record: r})
	}
	err = j.Append(s.batch...)
	clear(s.batch) // keeps no record alive
	if err == nil {
		s.last += uint64(len(records))
	}
	return err
}

// takeBack undoes the Append under way.
func (s *Set) takeBack() error {
	var errs []error
	for j, end := range s.before {
		errs = append(errs, j.takeBack(end))
	}
	return errors.Join(errs...)
}

// journal returns the job's journal, opened or made if need be.
func (s *Set) journal(id job.ID) (*Journal, error) {
	if j, ok := s.open[id]; ok {
		return j, nil
	}
	j, err := s.openOrCreate(id)
	if err != nil {
		return nil, err
	}
	s.open[id] = j
	delete(s.known, id)
	return j, nil
}

func (s *Set) openOrCreate(id job.ID) (*Journal, error) {
	path := s.path(id)
	if rec, ok := s.known[id]; ok {
		return OpenAt(path, rec)
	}
	j, err := Create(path)
	if errors.Is(err, fs.ErrExist) {
		return nil, &job.Error{
			Class: job.Fatal, Code: job.CodeIO, Where: path, What: "the journal exists but was not replayed",
			Do: "restart the server; if this returns, another server uses the same folder",
		}
	}
	return j, err
}

// SyncDirty makes durable what was appended to any journal before the call. Appends
// are not held up meanwhile.
func (s *Set) SyncDirty() error {
	s.mu.Lock()
	journals := make([]*Journal, 0, len(s.open))
	for _, j := range s.open {
		journals = append(journals, j)
	}
	s.mu.Unlock()
	var errs []error
	for _, j := range journals {
		errs = append(errs, j.Sync())
	}
	return errors.Join(errs...)
}

// Retire makes the job's journal durable and closes its file, as when the job has
// ended. Appending to it again opens it again. Other appends are not held up meanwhile.
func (s *Set) Retire(id job.ID) error {
	s.mu.Lock()
	j, ok := s.open[id]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	if err := j.Sync(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] != j {
		return nil // retired meanwhile
	}
	if err := j.Close(); err != nil { // has something to sync only if something was appended since
		return err
	}
	delete(s.open, id)
	s.known[id] = Recovery{End: j.offset()}
	return nil
}

// Close makes all journals durable and closes them.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, j := range s.open {
		errs = append(errs, j.Close())
	}
	return errors.Join(errs...)
}
