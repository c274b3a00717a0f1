package input

import (
	"errors"
	"io"
	"io/fs"

	"berth/internal/core/job"
)

// newRange returns the lines of a range of an open file.
func newRange(file File, r job.Range, as lineStyle) (source, error) {
	src, start, mark, err := newSource(file, r)
	if err != nil {
		return nil, err
	}
	switch as {
	case offsetLines:
		return &styledRange{source: src, piece: (&offsets{offset: start, mark: mark}).piece}, nil
	case tabbedLines:
		return &styledRange{source: &feeds{source: src}, piece: (&tabs{}).piece}, nil
	default:
		return &feeds{source: src}, nil
	}
}

// byteOrderMark is skipped at the begin of a file, as in Hadoop (LineRecordReader.skipUtfByteOrderMark).
const byteOrderMark = "\xef\xbb\xbf"

// newSource returns the source of the range, the offset of the first byte that it returns, and the length
// of the byte order mark before that byte.
func newSource(file File, r job.Range) (src source, start, mark int64, err error) {
	if r.Length < 0 {
		p, err := newPackedRange(file, r)
		return p, p.mark, p.mark, err
	}
	if err := checkSize(file, r); err != nil {
		return nil, 0, 0, err
	}
	p := &plainRange{file: file, pos: r.Offset, end: r.Offset + r.Length, size: r.Size, last: '\n'}
	if err := p.skipMark(); err != nil {
		return nil, 0, 0, err
	}
	if mark = p.pos - r.Offset; mark == 0 {
		err = p.seekLine()
	}
	return p, p.pos, mark, err
}

func inputError(path string, err error) error {
	var known *job.Error
	if errors.As(err, &known) {
		return err
	}
	e := job.IOError(job.Transient, path, "input cannot be read", err)
	var cause *fs.PathError
	if errors.As(err, &cause) {
		e.Err = cause.Err // Where says the path already
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Class, e.Do = job.User, "the file existed when the job was planned: put it back, or submit the job again"
	case errors.Is(err, fs.ErrPermission):
		e.Class, e.Do = job.User, "make it readable"
	}
	return e
}

// plainRange reads the lines that begin in a range of a plain file, the last one to its end, by Hadoop's
// rule (LineRecordReader).
type plainRange struct {
	file       File
	pos        int64 // offset of the next read
	end        int64 // lines that begin here or later belong to the next range
	size       int64 // of the file
	last       byte  // returned last; a newline at the start
	unreported int64 // bytes not yet returned by bytesRead
}

// tailChunk is how many bytes are read at once to find the end of a line.
const tailChunk = 64 << 10

// skipMark moves pos behind a byte order mark at the start of the file. The first line belongs to the
// range even if the mark fills the whole range.
func (p *plainRange) skipMark() error {
	const n = int64(len(byteOrderMark))
	if p.pos != 0 || p.end == 0 || p.size < n {
		return nil
	}
	var head [n]byte
	if err := p.readAt(head[:], 0); err != nil || string(head[:]) != byteOrderMark {
		return err
	}
	p.pos, p.unreported = n, n
	if p.pos >= p.end && p.pos < p.size {
		p.last = 0 // the line continues behind the range
	}
	return nil
}

// seekLine moves pos from the range's offset to the first line that begins there or later, or to end if
// no line begins in the range.
func (p *plainRange) seekLine() error {
	if p.pos == 0 || p.pos >= p.end {
		return nil
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for at := p.pos - 1; at < p.end-1; {
		chunk := (*buf)[:min(tailChunk, p.end-at)]
		if err := p.readAt(chunk, at); err != nil {
			return err
		}
		n := firstLine(chunk)
		if n > 0 && n < len(chunk) {
			p.pos = at + int64(n)
			return nil
		}
		at += int64(len(chunk) - 1) // if the last byte is a CR, the next chunk says whether an LF follows
	}
	p.pos = p.end
	return nil
}

// Read reads the range and the rest of its last line.
func (p *plainRange) Read(b []byte) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case p.pos < p.end:
		return p.readRange(b[:min(int64(len(b)), p.end-p.pos)])
	case endsLine(p.last):
		return 0, io.EOF
	case p.pos == p.size:
		p.last = '\n'
		b[0] = '\n'
		return 1, nil
	default:
		return p.tail(b)
	}
}

// readRange reads len(b) bytes at pos.
func (p *plainRange) readRange(b []byte) (int, error) {
	if err := p.readAt(b, p.pos); err != nil {
		return 0, err
	}
	p.advance(len(b), b[len(b)-1])
	return len(b), nil
}

// tail reads behind the end of the range, up to the end of the line. The LF behind a CR may be left out.
func (p *plainRange) tail(b []byte) (int, error) {
	b = b[:min(int64(len(b)), tailChunk, p.size-p.pos)]
	if err := p.readAt(b, p.pos); err != nil {
		return 0, err
	}
	if n := firstLine(b); n > 0 {
		b = b[:n]
	}
	p.advance(len(b), b[len(b)-1])
	return len(b), nil
}

func (p *plainRange) advance(n int, last byte) {
	p.pos += int64(n)
	p.unreported += int64(n)
	p.last = last
}

// readAt reads the whole of b. It returns an error if the file has become shorter.
func (p *plainRange) readAt(b []byte, at int64) error {
	n, err := p.file.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return changedSize(p.file.Name(), p.size, at+int64(n))
	default:
		return inputError(p.file.Name(), err)
	}
}

func (p *plainRange) bytesRead() int64 {
	n := p.unreported
	p.unreported = 0
	return n
}

func (p *plainRange) Close() error { return p.file.Close() }

// packedRange reads the whole of a compressed file.
type packedRange struct {
	rest
	head  []byte // read to find a byte order mark, and not yet returned
	mark  int64  // length of the mark
	last  byte   // returned last
	ended bool
}

// countingFile counts what is read from a file and names it in errors.
type countingFile struct {
	File
	n int64
}

func (f *countingFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	f.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = inputError(f.Name(), err)
	}
	return n, err
}

// newPackedRange opens a compressed file. An empty file has no lines.
func newPackedRange(file File, r job.Range) (*packedRange, error) {
	in, _, err := newRest(file, r)
	p := &packedRange{rest: in, last: '\n', ended: r.Size == 0}
	if err != nil || p.ended {
		return p, err
	}
	if err := p.skipMark(); err != nil {
		return p, errors.Join(err, p.decoder.Close())
	}
	return p, nil
}

// skipMark skips a byte order mark at the begin of the uncompressed data.
func (p *packedRange) skipMark() error {
	head := make([]byte, len(byteOrderMark))
	n, err := io.ReadFull(p.stream, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { // these say that the file is shorter than a mark
		return err
	}
	if p.head = head[:n]; string(p.head) == byteOrderMark {
		p.head, p.mark = nil, int64(n)
	}
	return nil
}

// Read reads the uncompressed data, and adds a newline to the last line if it has none.
func (p *packedRange) Read(b []byte) (int, error) {
	if len(p.head) > 0 && len(b) > 0 {
		n := copy(b, p.head)
		p.head, p.last = p.head[n:], b[n-1]
		return n, nil
	}
	for len(b) > 0 && !p.ended {
		n, err := p.read(b)
		if n > 0 {
			p.last = b[n-1]
		}
		if p.ended = errors.Is(err, io.EOF); p.ended {
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	switch {
	case len(b) == 0:
		return 0, nil
	case endsLine(p.last):
		return 0, io.EOF
	default:
		p.last = '\n'
		b[0] = '\n'
		return 1, nil
	}
}
