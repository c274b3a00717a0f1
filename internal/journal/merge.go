package journal

import (
	"container/heap"
	"errors"
	"fmt"
	"io"

	"berth/internal/event"
	"berth/internal/job"
)

// ReplayMerged calls fn for every entry of several journals in the order of their
// sequence numbers, and returns what each journal was found to hold, in the order
// of paths. Gaps in the numbers are allowed, as the journals of old runs may be
// deleted; a number that occurs twice is an error. Torn tails, damage and errors of
// fn are as in Replay. Of journals whose entries do not interleave only one is open
// at a time.
func ReplayMerged(paths []string, fn func(event.Entry) error) ([]Recovery, error) {
	return replayMerged(paths, func(_ int, e event.Entry) error { return fn(e) })
}

// replayMerged tells fn also the index of the journal that the entry is from.
func replayMerged(paths []string, fn func(int, event.Entry) error) ([]Recovery, error) {
	found := make([]Recovery, len(paths))
	m, err := newMerge(paths, found)
	if err != nil {
		return found, err
	}
	defer m.close()
	for len(*m) > 0 {
		src := (*m)[0]
		if err := src.start(); err != nil {
			return found, err
		}
		e := src.head
		if err := m.advance(); err != nil {
			return found, err
		}
		if len(*m) > 0 && (*m)[0].head.Seq == e.Seq {
			return found, duplicate(src.path, (*m)[0].path, e.Seq)
		}
		if err := fn(src.index, e); err != nil {
			return found, err
		}
	}
	return found, nil
}

// source is one journal of a merge. Its reader is nil until its first entry is due.
type source struct {
	index int // in the paths given
	path  string
	in    *reader
	head  event.Entry // the next entry
	found *Recovery   // filled in at the end
}

// start opens a source whose first entry was only looked at.
func (s *source) start() error {
	if s.in != nil {
		return nil
	}
	in, err := openReader(s.path)
	if err != nil {
		return err
	}
	s.in = in
	_, err = in.next() // head, once more
	return err
}

// merge is a heap of sources by the number of their next entry.
type merge []*source

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return m[i].head.Seq < m[j].head.Seq }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*source)) }

func (m *merge) Pop() any {
	last := len(*m) - 1
	s := (*m)[last]
	*m = (*m)[:last]
	return s
}

// newMerge looks at the first entry of every journal.
func newMerge(paths []string, found []Recovery) (*merge, error) {
	m := &merge{}
	for i, path := range paths {
		in, err := openReader(path)
		if err != nil {
			return nil, err
		}
		head, err := in.next()
		in.close()
		if errors.Is(err, io.EOF) {
			found[i] = in.rec
			continue
		}
		if err != nil {
			return nil, err
		}
		*m = append(*m, &source{index: i, path: path, head: head, found: &found[i]})
	}
	heap.Init(m)
	return m, nil
}

// advance takes the first source's next entry, or the source out at its end.
func (m *merge) advance() error {
	src := (*m)[0]
	next, err := src.in.next()
	if errors.Is(err, io.EOF) {
		*src.found = src.in.rec
		src.in.close()
		heap.Pop(m)
		return nil
	}
	if err != nil {
		return err
	}
	src.head = next
	heap.Fix(m, 0)
	return nil
}

func (m *merge) close() {
	for _, s := range *m {
		if s.in != nil {
			s.in.close()
		}
	}
}

func duplicate(a, b string, seq uint64) error {
	return &job.Error{
		Class: job.Fatal, Code: job.CodeIO, Where: a,
		What: fmt.Sprintf("record number %d is also in %s", seq, b),
		Do:   "one of the two is a copy: move that one away",
	}
}
