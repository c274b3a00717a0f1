package extsort

import (
	"io"

	"berth/internal/mapreduce/hadoop"
)

// repeater writes the line of a record as many times as the count of the record says.
type repeater struct {
	line []byte
	end  []byte // written after line; empty for most lines
	left int64  // times that the line is still to be written
	pos  int    // bytes of line and end that were written this time
}

// bareEnd ends a line that is only a key, for a program that expects a separator.
var bareEnd = []byte{hadoop.Separator, '\n'}

// newRepeater returns the repeater of a record. line ends with its newline. If tabs is set, a
// separator is added to a line that is only a key, as Hadoop Streaming's TextInputWriter does. The
// line itself is not copied.
func newRepeater(line []byte, keyLen int, count int64, tabs bool) repeater {
	if tabs && keyLen == len(line)-1 {
		return repeater{line: line[:keyLen], end: bareEnd, left: count}
	}
	return repeater{line: line, left: count}
}

// fill copies as much as fits into p, and returns the number of bytes.
func (r *repeater) fill(p []byte) int {
	n := 0
	for r.left > 0 && n < len(p) {
		if r.pos < len(r.line) {
			k := copy(p[n:], r.line[r.pos:])
			n += k
			r.pos += k
		}
		if past := r.pos - len(r.line); past >= 0 && past < len(r.end) {
			k := copy(p[n:], r.end[past:])
			n += k
			r.pos += k
		}
		if r.pos == len(r.line)+len(r.end) {
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
	tabs    bool // add a separator to a line that is only a key
	now     repeater
	records int64 // started
}

// Records returns the number of records that a Read has started, with each repeat counted.
func (l *entryLines) Records() int64 { return l.records }

// Read fills the whole of p unless the end comes first.
func (l *entryLines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if l.now.left == 0 {
			if len(l.entries) == 0 {
				return n, io.EOF
			}
			e := &l.entries[0]
			l.entries = l.entries[1:]
			l.now = newRepeater(l.mem[e.off:e.off+e.lineLen+1], int(e.keyLen), int64(e.count), l.tabs)
			l.records += int64(e.count)
		}
		n += l.now.fill(p[n:])
	}
	return n, nil
}

// MergedLines is a reader of the lines of sorted files. It merges the files while it is read, one
// partition after the other.
type MergedLines struct {
	space  *Space
	files  []*File
	part   int          // the next partition
	memory []byte       // for each merge
	held   func() int64 // bytes of memory that other data uses meanwhile
	tabs   bool         // add a separator to a line that is only a key
	m      *merger
	c      *cursor
	now    repeater

	key     []byte // of the last record
	prefix  uint64
	kept    []byte // a copy of key, once the block of its record is overwritten
	records int64
	groups  int64
	read    int64 // bytes read from files
}

// Lines merges files for reading, with all the memory of the space.
func (s *Space) Lines(files []*File, tabs bool) (*MergedLines, error) {
	s.mem.reset()
	return s.openLines(files, tabs, func() int64 { return 0 })
}

// openLines merges files for reading, with the memory that is left. held returns the bytes of memory
// that the caller uses meanwhile, for Progress.
func (s *Space) openLines(files []*File, tabs bool, held func() int64) (*MergedLines, error) {
	l := &MergedLines{space: s, files: files, memory: s.mem.rest, held: held, tabs: tabs}
	return l, l.nextPart()
}

// nextPart opens the merge of the next partition.
func (l *MergedLines) nextPart() (err error) {
	l.space.mem.rest = l.memory
	if l.m, err = newMerger(runsOf(l.files, l.part), l.space.Order, l.space.mem); err != nil {
		return err
	}
	l.part++
	l.space.uses(l.held() + l.m.space)
	return nil
}

// Records returns the number of records that a Read has started, with each repeat counted.
func (l *MergedLines) Records() int64 { return l.records }

// Groups returns the number of different keys among these records.
func (l *MergedLines) Groups() int64 { return l.groups }

// Read fills the whole of p unless the end comes first.
func (l *MergedLines) Read(p []byte) (int, error) {
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
func (l *MergedLines) step() (bool, error) {
	for {
		if l.m == nil {
			if l.part == l.space.Partitions {
				return false, nil
			}
			if err := l.nextPart(); err != nil {
				return false, err
			}
		}
		if l.c != nil && !l.c.inBlock() {
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
	if c.prefix != l.prefix || l.records == 0 || l.space.Order.Compare(l.key, key) != 0 {
		l.groups++
	}
	l.key, l.prefix = key, c.prefix
	l.now = newRepeater(c.line, c.keyLen, c.count, l.tabs)
	l.records += c.count
	return true, nil
}

// bytesRead returns the bytes read from files so far.
func (l *MergedLines) bytesRead() int64 {
	if l.m != nil {
		l.read += l.m.bytesRead()
	}
	return l.read
}

func (l *MergedLines) endMerge() {
	l.bytesRead()
	l.m.close()
	l.m = nil
}

// Close closes the files of the merge in progress.
func (l *MergedLines) Close() {
	if l.m != nil {
		l.endMerge()
	}
}
