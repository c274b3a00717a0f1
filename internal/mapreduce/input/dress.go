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

// keyedRange puts each line's offset and a TAB before it.
type keyedRange struct {
	source
	offset  int64  // of the next byte of in
	mark    int64  // length of a byte order mark before that, which the first line's offset leaves out
	atStart bool   // a line begins there
	key     []byte // to be handed out before in
	in      []byte
	buf     [tailChunk]byte
	keyBuf  [24]byte
}

// Read hands out keys and lines.
func (k *keyedRange) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if len(k.key) > 0 {
			m := copy(b[n:], k.key)
			k.key = k.key[m:]
			n += m
			continue
		}
		if len(k.in) == 0 {
			if n > 0 {
				break
			}
			m, err := k.source.Read(k.buf[:])
			if m == 0 {
				return 0, err
			}
			k.in = k.buf[:m]
		}
		if k.atStart {
			k.key = append(strconv.AppendInt(k.keyBuf[:0], k.offset-k.mark, 10), '\t')
			k.atStart, k.mark = false, 0
			continue
		}
		n += k.line(b[n:])
	}
	return n, nil
}

// line hands out what is there of a line, at most to its end.
func (k *keyedRange) line(b []byte) int {
	part := k.in
	if i := bytes.IndexByte(part, '\n'); i >= 0 {
		part = part[:i+1]
	}
	m := copy(b, part)
	k.atStart = m > 0 && part[m-1] == '\n'
	k.in = k.in[m:]
	k.offset += int64(m)
	return m
}

// tabbedRange puts a TAB at the end of each line that has none, as Hadoop Streaming
// writes the records of KeyValueTextInputFormat to a mapper: key, TAB, value.
type tabbedRange struct {
	source
	tabbed bool   // the line that has begun has a TAB
	ends   bool   // its TAB was just handed out: its newline is next
	in     []byte // read from source and not yet handed out
	buf    [tailChunk]byte
}

// Read hands out lines.
func (t *tabbedRange) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if len(t.in) == 0 {
			if n > 0 {
				break
			}
			m, err := t.source.Read(t.buf[:])
			if m == 0 {
				return 0, err
			}
			t.in = t.buf[:m]
		}
		n += t.piece(b[n:])
	}
	return n, nil
}

// piece hands out what is there of a line, then its TAB if it lacks one, then its newline.
func (t *tabbedRange) piece(b []byte) int {
	i := bytes.IndexByte(t.in, '\n')
	if i == 0 && !t.tabbed && !t.ends {
		t.ends = true
		b[0] = '\t'
		return 1
	}
	if i == 0 {
		t.tabbed, t.ends = false, false
		b[0] = '\n'
		t.in = t.in[1:]
		return 1
	}
	part := t.in
	if i > 0 {
		part = part[:i]
	}
	m := copy(b, part)
	t.tabbed = t.tabbed || bytes.IndexByte(part[:m], '\t') >= 0
	t.in = t.in[m:]
	return m
}
