package extsort

import (
	"bytes"

	"berth/internal/mapreduce/hadoop"
)

// merger merges runs with a loser tree (Knuth, The Art of Computer Programming 3, section 5.4.1).
// A step costs one comparison for each level of the tree. Most comparisons need only the cached
// prefixes of the keys.
type merger struct {
	cursors []*cursor
	prefix  []uint64 // of each cursor's record
	done    []bool   // the cursor is at its end
	tree    []int32  // losers by node, counted from 1; tree[0] is the winner
	cmp     hadoop.Comparator
	running bool
	extra   []region // for runs that need more than their share
	read    *int64   // bytes read from files
	space   int64    // bytes that the runs are read into
}

// newMerger opens the runs. Each run gets the memory that it needs, and an even share of the rest of
// mem. A run that does not fit into mem gets a region of its own from the system. The merger adds to read how many bytes it reads.
func newMerger(runs []run, cmp hadoop.Comparator, mem *arena, read *int64) (m *merger, err error) {
	m = &merger{
		cmp: cmp, read: read, cursors: make([]*cursor, 0, len(runs)), prefix: make([]uint64, len(runs)),
		done: make([]bool, len(runs)), tree: make([]int32, max(len(runs), 1)),
	}
	var need int64
	for _, r := range runs {
		need += r.need()
	}
	share := (int64(len(mem.rest)) - need) / int64(max(len(runs), 1))
	for _, r := range runs {
		if err == nil {
			err = m.open(r, min(max(share-8, 0), maxReadAhead), mem)
		}
	}
	if err == nil {
		err = m.build()
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// maxReadAhead is how many bytes of a run are read at once if the memory suffices. More does not
// make reading faster (measured).
const maxReadAhead = 256 << 10

func (m *merger) open(r run, ahead int64, mem *arena) error {
	size := r.need()
	ahead = min(ahead, r.Length)
	var space []byte
	if size+ahead+8 <= int64(len(mem.rest)) {
		space = mem.alloc(int(size + ahead))
	} else {
		big, err := mapRegion(size)
		if err != nil {
			return err
		}
		m.extra = append(m.extra, big)
		space = big
	}
	m.space += int64(len(space))
	c, err := openCursor(r, m.cmp, space, m.read)
	if err == nil {
		m.cursors = append(m.cursors, c)
	}
	return err
}

// build moves every cursor to its first record and builds the tree.
func (m *merger) build() error {
	for i := range m.tree {
		m.tree[i] = -1
	}
	for i := range m.cursors {
		if err := m.step(i); err != nil {
			return err
		}
	}
	for i := range m.cursors {
		m.enter(int32(i))
	}
	return nil
}

// enter adds a cursor while the tree is being built. The cursor rises until it meets an empty node.
func (m *merger) enter(i int32) {
	node := (int(i) + len(m.cursors)) / 2
	for ; node > 0; node /= 2 {
		other := m.tree[node]
		if other < 0 {
			m.tree[node] = i
			return
		}
		if m.less(other, i) {
			m.tree[node], i = i, other
		}
	}
	m.tree[0] = i
}

func (m *merger) step(i int) error {
	c := m.cursors[i]
	more, err := c.next()
	if err != nil {
		return err
	}
	m.prefix[i] = c.prefix
	if !more {
		m.prefix[i] = ^uint64(0)
		m.done[i] = true
	}
	return nil
}

// next returns the cursor whose current record is the next one, or nil at the end. The record is
// valid until the next call.
func (m *merger) next() (*cursor, error) {
	if len(m.cursors) == 0 {
		return nil, nil
	}
	i := m.tree[0]
	if m.running {
		if err := m.step(int(i)); err != nil {
			return nil, err
		}
		for node := (int(i) + len(m.cursors)) / 2; node > 0; node /= 2 {
			if other := m.tree[node]; m.less(other, i) {
				m.tree[node], i = i, other
			}
		}
		m.tree[0] = i
	}
	m.running = true
	if m.done[i] {
		return nil, nil
	}
	return m.cursors[i], nil
}

func (m *merger) less(a, b int32) bool {
	pa, pb := m.prefix[a], m.prefix[b]
	if pa != pb {
		return pa < pb
	}
	return m.lessTied(a, b)
}

// lessTied compares cursors with equal prefixes. A cursor at its end is greater than any record.
func (m *merger) lessTied(a, b int32) bool {
	switch {
	case m.done[a]:
		return false
	case m.done[b]:
		return true
	}
	return compareRecords(m.cursors[a], m.cursors[b], m.cmp) < 0
}

// compareRecords compares two records by key in the job's order, then by the bytes of the key, then
// by the bytes of the rest.
func compareRecords(a, b *cursor, cmp hadoop.Comparator) int {
	ka, kb := a.line[:a.keyLen], b.line[:b.keyLen]
	if cmp != hadoop.ByteOrder {
		if r := cmp.Compare(ka, kb); r != 0 {
			return r
		}
	}
	if r := bytes.Compare(ka, kb); r != 0 {
		return r
	}
	return bytes.Compare(a.line[a.keyLen:len(a.line)-1], b.line[b.keyLen:len(b.line)-1])
}

// close closes the runs.
func (m *merger) close() {
	for _, c := range m.cursors {
		c.close()
	}
	for _, r := range m.extra {
		unmapRegion(r)
	}
	m.cursors, m.extra = nil, nil
}
