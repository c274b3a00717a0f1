package input

import (
	"bytes"
	"strconv"
)

// styledRange adds offsets or TABs to the lines of a source.
type styledRange struct {
	source
	// piece writes the next bytes to b: those of the line that begins in, or an addition to it. It
	// returns the number of bytes written to b and the number of bytes of in that they used.
	piece func(b, in []byte) (filled, consumed int)
	in    []byte // read from source and not yet returned
	buf   [tailChunk]byte
}

// Read reads lines.
func (d *styledRange) Read(b []byte) (int, error) {
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
		filled, consumed := d.piece(b[n:], d.in)
		n += filled
		d.in = d.in[consumed:]
	}
	return n, nil
}

// offsets adds its offset and a TAB before each line. Offsets count all bytes of the ends of lines, each of which becomes
// an LF.
type offsets struct {
	offset  int64  // of the next byte
	mark    int64  // length of the byte order mark before it, which does not count for the first line's offset
	midLine bool   // the offset of the line was returned
	cr      bool   // the last byte was a CR, so that an LF now belongs to it
	key     []byte // the part of the offset that was not returned; in keyBuf
	keyBuf  [24]byte
}

func (o *offsets) piece(b, in []byte) (filled, consumed int) {
	if o.cr {
		if o.cr = false; in[0] == '\n' {
			o.offset++
			return 0, 1
		}
	}
	if !o.midLine {
		o.key = append(strconv.AppendInt(o.keyBuf[:0], o.offset-o.mark, 10), '\t')
		o.midLine, o.mark = true, 0
	}
	if len(o.key) > 0 {
		m := copy(b, o.key)
		o.key = o.key[m:]
		return m, 0
	}
	if i := endIn(in); i >= 0 {
		in = in[:i+1]
	}
	m := copy(b, in)
	if o.cr = b[m-1] == '\r'; o.cr {
		b[m-1] = '\n'
	}
	o.midLine = b[m-1] != '\n'
	o.offset += int64(m)
	return m, m
}

// tabs adds a TAB at the end of each line that has none, as Hadoop Streaming writes the records of
// KeyValueTextInputFormat to a mapper: key, TAB, value.
type tabs struct {
	tabbed bool // the present line has a TAB, of its own or added
}

func (t *tabs) piece(b, in []byte) (filled, consumed int) {
	if in[0] == '\n' {
		if t.tabbed = !t.tabbed; t.tabbed {
			b[0] = '\t'
			return 1, 0
		}
		b[0] = '\n'
		return 1, 1
	}
	in, _, _ = bytes.Cut(in, lineEnd)
	m := copy(b, in)
	t.tabbed = t.tabbed || bytes.IndexByte(in[:m], '\t') >= 0
	return m, m
}
