package mapreduce

import "bytes"

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
		b[0] = separator
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
	t.tabbed = t.tabbed || bytes.IndexByte(part[:m], separator) >= 0
	t.in = t.in[m:]
	return m
}
