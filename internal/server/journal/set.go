package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"syscall"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Set contains a coordinator's journals: one for each job, and one for nodes and
// allocations, whose job ID is empty. The sequence numbers of entries run through all
// journals. The methods may be called from several goroutines.
type Set struct {
	path func(job.ID) string

	mu     sync.Mutex
	last   uint64              // number of the last entry
	open   map[job.ID]*Journal // journals that are appended to and not retired
	known  map[job.ID]Recovery // journals that were read or retired; they can be opened without another replay
	batch  []event.Entry       // the entries of the last Append; the slice is reused
	before map[*Journal]int64  // where the journals ended before the Append under way
}

// NewSet returns a set whose journals are at the paths that path returns; path("") is the
// journal of nodes and allocations. A file is created by the first append to it; its
// folder must exist.
func NewSet(path func(job.ID) string) *Set {
	return &Set{
		path: path, open: map[job.ID]*Journal{}, known: map[job.ID]Recovery{}, before: map[*Journal]int64{},
	}
}

// Replay calls fn for every entry of the given jobs' journals and of the journal of nodes
// and allocations, in the order in which they were appended. Later entries are numbered
// from the last one. A journal that does not exist has no entries. Replay is called once,
// before the first Append. It returns the sizes of torn tails in bytes, by job.
func (s *Set) Replay(jobs []job.ID, fn func(event.Entry) error) (torn map[job.ID]int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := newMerge(append([]job.ID{""}, jobs...), s.path)
	if err != nil {
		return nil, err
	}
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

// Append gives the records the next sequence numbers, writes each to the journal of its
// job, and returns the number of the first. Records are written in order, and successive
// records of one journal by one write(2). So a process that is killed at any moment leaves
// a prefix of the batch, even if the batch goes to several journals.
//
// If an error is returned, none of the records was kept. The caller then appends the same
// records again or stops: later records must not be written without them.
func (s *Set) Append(at job.Time, records ...event.Record) (first uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.last + 1
	clear(s.before)
	for len(records) > 0 {
		id := records[0].Of()
		n := slices.IndexFunc(records, func(r event.Record) bool { return r.Of() != id }) // of another journal
		if n < 0 {
			n = len(records)
		}
		if err := s.appendRun(at, records[:n]); err != nil {
			s.last = first - 1
			return 0, s.takeBack(err)
		}
		records = records[n:]
	}
	return first, nil
}

// ErrFull is the error of an Append that found the disk full and left nothing of its records: the same ones can be appended
// again once there is room.
var ErrFull = errors.New("the disk is full")

// takeBack removes what the Append under way has written before it failed, and returns its error.
func (s *Set) takeBack(err error) error {
	whole := true
	for j, end := range s.before {
		if undone := j.undo(end); undone != nil {
			if whole = false; !errors.Is(err, undone) { // the write that failed may have said it already
				err = errors.Join(err, undone)
			}
		}
	}
	if whole && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return errors.Join(ErrFull, err)
	}
	return err
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
	clear(s.batch) // so that the garbage collector can free the records
	if err == nil {
		s.last += uint64(len(records))
	}
	return err
}

// journal returns the job's journal and opens or creates it if necessary.
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
		return nil, job.IOError(job.Fatal, path, "the journal exists but was not replayed", nil).
			Advice("restart the coordinator (`berth server stop`); if this happens again, another coordinator uses the same state folder")
	}
	return j, err
}

// SyncDirty writes to the disk what was appended to any journal before the call. Append
// does not wait for it.
func (s *Set) SyncDirty() error {
	s.mu.Lock()
	journals := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	var errs []error
	for _, j := range journals {
		errs = append(errs, j.Sync())
	}
	return errors.Join(errs...)
}

// Retire syncs and closes the journal of a job, usually because the job has ended. A later
// Append opens it again. Appends to other journals do not wait for it.
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
	if err := j.Close(); err != nil { // syncs again only what was appended since
		return err
	}
	delete(s.open, id)
	s.known[id] = Recovery{End: j.offset()}
	return nil
}

// Close syncs and closes all journals.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, j := range s.open {
		errs = append(errs, j.Close())
	}
	return errors.Join(errs...)
}
