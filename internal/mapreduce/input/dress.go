package input

import (
	"bytes"
	"strconv"

	"berth/internal/job"
)

// dress says what is added to the lines of a file.
type dress int

const (
	plainLines  dress = iota
	offsetLines       // each comes after its offset and a TAB
	tabbedLines       // each without a TAB gets one at its end
)

// dressOf returns what a job's mapper reads.
func dressOf(spec *job.MapReduceSpec) dress {
	switch {
	case spec.OffsetKeys:
		return offsetLines
	case spec.InputFormat == "KeyValueTextInputFormat" && spec.Mapper.Native == "":
		return tabbedLines
	default:
		return plainLines
	}
}

// dressedRange adds something to the lines of a source.
type dressedRange struct {
	source
	// piece hands out what comes next of the line that has begun in in, and returns how many bytes
	// of b it filled and how many of in it took.
	piece func(b, in []byte) (filled, took int)
	in    []byte // read from source and not yet handed out
	buf   [tailChunk]byte
}

// Read hands out lines.
func (d *dressedRange) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if len(d.in) == 0 {
			if n > 0 {
				break
			}
			m, err := d.source.Read(d.buf[:])
			if m == 0 {
				return 0, err
			}
			d.in = d.buf[:m]
		}
		filled, took := d.piece(b[n:], d.in)
		n += filled
		d.in = d.in[took:]
	}
	return n, nil
}

// offsets puts each line's offset and a TAB before it.
type offsets struct {
	offset  int64  // of the next byte
	mark    int64  // length of a byte order mark before that, which the first line's offset leaves out
	midLine bool   // the offset of the line was handed out
	key     []byte // of it, not yet handed out; in keyBuf
	keyBuf  [24]byte
}

func (o *offsets) piece(b, in []byte) (filled, took int) {
	if !o.midLine {
		o.key = append(strconv.AppendInt(o.keyBuf[:0], o.offset-o.mark, 10), '\t')
		o.midLine, o.mark = true, 0
	}
	if len(o.key) > 0 {
		m := copy(b, o.key)
		o.key = o.key[m:]
		return m, 0
	}
	if i := bytes.IndexByte(in, '\n'); i >= 0 {
		in = in[:i+1]
	}
	m := copy(b, in)
	o.midLine = in[m-1] != '\n'
	o.offset += int64(m)
	return m, m
}

// tabs puts a TAB at the end of each line that has none, as Hadoop Streaming writes the
// records of KeyValueTextInputFormat to a mapper: key, TAB, value.
type tabs struct {
	tabbed bool // the line that has begun has a TAB, of its own or handed out
}

func (t *tabs) piece(b, in []byte) (filled, took int) {
	i := bytes.IndexByte(in, '\n')
	switch {
	case i == 0 && !t.tabbed:
		t.tabbed = true
		b[0] = '\t'
		return 1, 0
	case i == 0:
		t.tabbed = false
		b[0] = '\n'
		return 1, 1
	case i > 0:
		in = in[:i]
	}
	m := copy(b, in)
	t.tabbed = t.tabbed || bytes.IndexByte(in[:m], '\t') >= 0
	return m, m
}
