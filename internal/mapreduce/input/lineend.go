package input

import "bytes"

// Lines end with LF, CR or CR LF, as for Hadoop's LineReader. What reads lines passes each end on as LF, as Hadoop
// Streaming does.

// endIn returns the index of the first CR or LF in b, or −1.
func endIn(b []byte) int { return bytes.IndexAny(b, "\r\n") }

// firstLine returns the length of the first line in b with its end, or 0 if it does not end in b. If b ends with its CR,
// an LF that belongs to it may follow.
func firstLine(b []byte) int {
	i := endIn(b)
	if i >= 0 && b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		i++
	}
	return i + 1
}

// endsLine reports whether a byte ends a line, or is the first of the two that do.
func endsLine(c byte) bool { return c == '\n' || c == '\r' }

// feeds makes each end of a line of a source an LF.
type feeds struct {
	source
	cr bool // the last byte was a CR, so that an LF now belongs to it
}

// Read reads lines.
func (f *feeds) Read(b []byte) (int, error) {
	for {
		n, err := f.source.Read(b)
		if n == 0 {
			return 0, err
		}
		if n = f.unify(b[:n]); n > 0 || err != nil {
			return n, err
		}
	}
}

// unify changes b, and returns how many bytes are left.
func (f *feeds) unify(b []byte) (n int) {
	i := 0
	if f.cr && b[0] == '\n' {
		i = 1
	}
	for f.cr = false; i < len(b); {
		j := bytes.IndexByte(b[i:], '\r')
		if j < 0 {
			return n + copy(b[n:], b[i:])
		}
		n += copy(b[n:], b[i:i+j])
		b[n] = '\n'
		n++
		i += j + 1
		if f.cr = i == len(b); !f.cr && b[i] == '\n' {
			i++
		}
	}
	return n
}
