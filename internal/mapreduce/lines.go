package mapreduce

import "io"

// repeater hands out a line as often as its record counts.
type repeater struct {
	line []byte
	left int64
	pos  int // handed out of the line
}

// fill copies what fits into p.
func (r *repeater) fill(p []byte) int {
	n := 0
	for r.left > 0 && n < len(p) {
		k := copy(p[n:], r.line[r.pos:])
		n += k
		if r.pos += k; r.pos == len(r.line) {
			r.pos = 0
			r.left--
		}
	}
	return n
}

// entryLines reads the lines of a buffer's sorted entries.
type entryLines struct {
	mem     []byte
	entries []entry
	now     repeater
	records int64 // begun
}

// Read fills p, unless the end comes first.
func (l *entryLines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if l.now.left == 0 {
			if len(l.entries) == 0 {
				return n, io.EOF
			}
			e := &l.entries[0]
			l.entries = l.entries[1:]
			l.now = repeater{line: l.mem[e.off : e.off+e.lineLen+1], left: int64(e.count)}
			l.records += int64(e.count)
		}
		n += l.now.fill(p[n:])
	}
	return n, nil
}

// mergedLines reads the lines of runs while it merges them, one list of runs after
// the other.
type mergedLines struct {
	next func() (*merger, error) // the merge of the next list; nil at the end
	m    *merger
	c    *cursor
	now  repeater

	cmp     Comparator
	key     []byte // of the last record
	prefix  uint64
	kept    []byte // memory for key, once its record's block is gone
	records int64  // begun, repeats counted
	groups  int64  // keys that differ
	taken   int64  // bytes read from files
}

// Read fills p, unless the end comes first.
func (l *mergedLines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if l.now.left == 0 {
			more, err := l.step()
			if err != nil {
				return n, err
			}
			if !more {
				return n, io.EOF
			}
		}
		n += l.now.fill(p[n:])
	}
	return n, nil
}

// step goes to the next record.
func (l *mergedLines) step() (bool, error) {
	for {
		if l.m == nil {
			var err error
			if l.m, err = l.next(); l.m == nil || err != nil {
				return false, err
			}
		}
		if l.c != nil && !l.c.ahead() {
			l.kept = append(l.kept[:0], l.key...)
			l.key = l.kept
		}
		c, err := l.m.next()
		if err != nil {
			return false, err
		}
		if l.c = c; c != nil {
			break
		}
		l.endMerge()
	}
	c := l.c
	key := c.line[:c.keyLen]
	if c.prefix != l.prefix || l.records == 0 || l.cmp.Compare(l.key, key) != 0 {
		l.groups++
	}
	l.key, l.prefix = key, c.prefix
	l.now = repeater{line: c.line, left: c.count}
	l.records += c.count
	return true, nil
}

// bytesTaken returns the bytes read from files so far.
func (l *mergedLines) bytesTaken() int64 {
	if l.m != nil {
		l.taken += l.m.taken()
	}
	return l.taken
}

func (l *mergedLines) endMerge() {
	l.bytesTaken()
	l.m.close()
	l.m = nil
}

// close closes the merge that is under way.
func (l *mergedLines) close() {
	if l.m != nil {
		l.endMerge()
	}
}
