package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// merge reads the journals of a set in the order of their entries' numbers. Gaps in the numbers
// are allowed, as the journals of old runs may be deleted; a number that occurs twice is an error.
type merge struct {
	sources []*source           // the journals that have entries left, sorted by the number of their next entry
	found   map[job.ID]Recovery // what was found in the journals that were read to their ends
}

// source is one journal of a merge. Nothing is read ahead until its first entry is due, so that only
// one journal is in memory at a time as long as their entries do not interleave.
type source struct {
	id   job.ID
	in   *reader
	head event.Entry // the next entry
}

// newMerge reads the first entry of every job's journal. A journal that does not exist has no entries.
func newMerge(jobs []job.ID, path func(job.ID) string) (*merge, error) {
	m := &merge{found: map[job.ID]Recovery{}}
	for _, id := range jobs {
		in, err := openReader(path(id), 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = m.read(&source{id: id, in: in})
		}
		if err != nil {
			return nil, err
		}
		in.in = nil
	}
	return m, nil
}

// read reads the next entry of a journal and puts the journal among the sources, in their order, unless it is at its end.
func (m *merge) read(src *source) (err error) {
	if src.head, err = src.in.next(); errors.Is(err, io.EOF) {
		m.found[src.id] = src.in.rec
		return nil
	}
	if err != nil {
		return err
	}
	at, _ := slices.BinarySearchFunc(m.sources, src.head.Seq, func(s *source, seq uint64) int {
		return cmp.Compare(s.head.Seq, seq)
	})
	m.sources = slices.Insert(m.sources, at, src)
	return nil
}

// next returns the next entry, or io.EOF behind the last. An entry that is in two journals, or in
// the journal of another job, is an error.
func (m *merge) next() (event.Entry, error) {
	if len(m.sources) == 0 {
		return event.Entry{}, io.EOF
	}
	src := m.sources[0]
	e := src.head
	m.sources = slices.Delete(m.sources, 0, 1)
	if err := m.read(src); err != nil {
		return e, err
	}
	if len(m.sources) > 0 && m.sources[0].head.Seq == e.Seq {
		return e, duplicate(src.in.path, m.sources[0].in.path, e.Seq)
	}
	if of := e.Record.Of(); of != src.id {
		return e, job.IOError(job.Fatal, src.in.path, fmt.Sprintf("record number %d belongs to %q", e.Seq, of), nil).
			Advice("the file was moved from another run: move it back, or out of the state folder")
	}
	return e, nil
}

func duplicate(a, b string, seq uint64) error {
	return job.IOError(job.Fatal, a, fmt.Sprintf("record number %d is also in %s", seq, b), nil).Advice("one of the two is a copy: move that one away")
}
