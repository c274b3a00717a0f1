package extsort

import (
	"io"

	"berth/internal/mapreduce/hadoop"
)

// recordLines reads the lines of records, each as many times as the count of its record says.
type recordLines struct {
	step    func() error // begins the next record; it returns io.EOF after the last one
	tabs    bool         // add a separator to a line that is only a key, as Hadoop Streaming's TextInputWriter does
	line    []byte       // of the record
	left    int64        // times that the line is still to be read
	pos     int          // bytes of line that were read this time
	bare    []byte       // a line to which a separator was added
	records int64        // begun
}

// begin makes a record the one that is read. line ends with its newline.
func (l *recordLines) begin(line []byte, keyLen int, count int64) {
	if l.tabs && keyLen == len(line)-1 {
		l.bare = append(append(l.bare[:0], line[:keyLen]...), hadoop.Separator, '\n')
		line = l.bare
	}
	l.line, l.left = line, count
	l.records += count
}

// Records returns the number of records that a Read has started, with each repeat counted.
func (l *recordLines) Records() int64 { return l.records }

// Read fills the whole of p unless the end comes first.
func (l *recordLines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if l.left == 0 {
			if err := l.step(); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], l.line[l.pos:])
		n += k
		if l.pos += k; l.pos == len(l.line) {
			l.pos = 0
			l.left--
		}
	}
	return n, nil
}

// linesOf returns a reader of the lines of sorted entries, which are in mem.
func linesOf(mem []byte, entries []entry, tabs bool) *recordLines {
	l := &recordLines{tabs: tabs}
	l.step = func() error {
		if len(entries) == 0 {
			return io.EOF
		}
		e := entries[0]
		entries = entries[1:]
		l.begin(mem[e.off:e.off+e.lineLen+1], int(e.keyLen), int64(e.count))
		return nil
	}
	return l
}

// MergedLines is a reader of the lines of sorted files. It merges the files while it is read, one
// partition after the other.
type MergedLines struct {
	recordLines
	space  *Space
	files  []*File
	part   int          // the next partition
	memory []byte       // for each merge
	held   func() int64 // bytes of memory that other data uses meanwhile
	m      *merger

	key    []byte // the first one of the present group
	prefix uint64
	Groups int64 // different keys among these records
}

// Lines merges files for reading, with all the memory of the space.
func (s *Space) Lines(files []*File, tabs bool) (*MergedLines, error) {
	s.mem.reset()
	return s.openLines(files, tabs, func() int64 { return 0 })
}

// openLines merges files for reading, with the memory that is left. held returns the bytes of memory
// that the caller uses meanwhile, for Progress.
func (s *Space) openLines(files []*File, tabs bool, held func() int64) (*MergedLines, error) {
	l := &MergedLines{space: s, files: files, memory: s.mem.rest, held: held}
	l.tabs, l.step = tabs, l.next
	return l, l.nextPart()
}

// nextPart opens the merge of the next partition.
func (l *MergedLines) nextPart() (err error) {
	l.space.mem.rest = l.memory
	if l.m, err = newMerger(runsOf(l.files, l.part), l.space.Order, l.space.mem, &l.space.read); err != nil {
		return err
	}
	l.part++
	l.space.uses(l.held() + l.m.space)
	return nil
}

// next goes to the next record.
func (l *MergedLines) next() error {
	for {
		if l.m == nil {
			if l.part == l.space.Partitions {
				return io.EOF
			}
			if err := l.nextPart(); err != nil {
				return err
			}
		}
		c, err := l.m.next()
		if err != nil {
			return err
		}
		if c == nil {
			l.Close()
			continue
		}
		key := c.line[:c.keyLen]
		if c.prefix != l.prefix || l.records == 0 || l.space.Order.Compare(l.key, key) != 0 {
			l.Groups++
			l.key, l.prefix = append(l.key[:0], key...), c.prefix
		}
		l.begin(c.line, c.keyLen, c.count)
		return nil
	}
}

// Close closes the files of the merge in progress.
func (l *MergedLines) Close() {
	if l.m != nil {
		l.m.close()
		l.m = nil
	}
}
