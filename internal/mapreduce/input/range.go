package input

import (
	"cmp"
	"errors"
	"io"
	"io/fs"

	"berth/internal/core/job"
)

// newLineRange returns the lines of a range of an open file. It adds to them what the job's mapper expects: before each line its offset
// and a TAB, or a TAB at the end of each line that has none.
func newLineRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	inside := r.Offset > 0 && r.Length > 0
	if inside { // the byte before the range shows whether a line begins at it
		r.Offset, r.Length = r.Offset-1, r.Length+1
	}
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, err
	}
	p := &lineRange{rest: in, at: r.Offset, stop: stop, last: '\n'}
	var mark int64
	if inside {
		err = p.seekLine()
	} else if p.at < p.stop {
		mark, err = p.skipMark(r.Size)
	}
	if err != nil {
		return nil, err
	}
	p.reported = p.at - mark
	switch {
	case spec.OffsetKeys:
		return &styledRange{source: p, piece: (&offsets{offset: p.at, mark: mark}).piece}, nil
	case spec.InputFormat == "KeyValueTextInputFormat" && spec.Mapper.Native == "":
		return &styledRange{source: &feeds{source: p}, piece: (&tabs{}).piece}, nil
	default:
		return &feeds{source: p}, nil
	}
}

func inputError(path string, err error) error {
	if errors.As(err, new(*job.Error)) {
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

// lineRange reads the lines that begin in a range of a file, the last one to its end, by Hadoop's rule (LineRecordReader).
type lineRange struct {
	rest
	ahead []byte                   // was read, and is to be returned first
	head  [len(byteOrderMark)]byte // of the file
	at    int64                    // offset of the next byte, in the uncompressed file
	stop  int64                    // lines that begin here or later belong to the next range
	last  byte                     // returned last; a newline at the start
}

// tailChunk is how many bytes are read at once to find the end of a line.
const tailChunk = 64 << 10

// byteOrderMark is skipped at the begin of a file, as in Hadoop (LineRecordReader.skipUtfByteOrderMark).
const byteOrderMark = "\xef\xbb\xbf"

// skipMark skips a byte order mark at the begin of the file. The first line belongs to the range even if the mark fills the whole range.
func (p *lineRange) skipMark(size int64) (mark int64, err error) {
	n, err := io.ReadFull(p.stream, p.head[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF { // these say that the file is shorter than a mark
		return 0, err
	}
	if string(p.head[:n]) != byteOrderMark {
		p.ahead = p.head[:n]
		return 0, nil
	}
	if p.at = int64(n); p.at >= p.stop && p.at < size {
		p.last = 0 // the line continues behind the range
	}
	return p.at, nil
}

// seekLine goes from the byte before the range to the first line that begins in it, or to its end if none does.
func (p *lineRange) seekLine() error {
	buf, have := make([]byte, tailChunk), 0
	for p.at < p.stop-1 {
		n, err := p.stream.Read(buf[have:min(tailChunk, p.stop-p.at)])
		if n == 0 && err != nil {
			return err
		}
		chunk := buf[:have+n]
		if k := firstLine(chunk); k > 0 && k < len(chunk) {
			p.at += int64(k)
			p.ahead = chunk[k:]
			return nil
		}
		have = copy(buf, chunk[len(chunk)-1:]) // if it is a CR, the next byte says whether an LF follows
		p.at += int64(len(chunk) - have)
	}
	p.at = p.stop
	return nil
}

// next reads what was read ahead, and on.
func (p *lineRange) next(b []byte) (n int, err error) {
	n = copy(b, p.ahead)
	if p.ahead = p.ahead[n:]; n < len(b) {
		var more int
		more, err = p.stream.Read(b[n:])
		n += more
	}
	return n, err
}

// Read reads the range and the rest of its last line, and adds a newline to the last line of the file if it has none. The LF behind a CR at
// the end of the range may be left out.
func (p *lineRange) Read(b []byte) (int, error) {
	behind := p.at >= p.stop
	switch {
	case len(b) == 0:
		return 0, nil
	case behind && endsLine(p.last):
		return 0, io.EOF
	case behind:
		b = b[:min(len(b), tailChunk)]
	default:
		b = b[:min(int64(len(b)), p.stop-p.at)]
	}
	n, err := p.next(b)
	ended := errors.Is(err, io.EOF)
	switch {
	case n == 0 && ended && !endsLine(p.last):
		p.last, b[0] = '\n', '\n'
		return 1, nil
	case n == 0:
		return 0, err
	case ended:
		err = nil // the next read returns it
	}
	if behind {
		n = cmp.Or(firstLine(b[:n]), n)
	}
	p.at += int64(n)
	p.last = b[n-1]
	return n, err
}

func (p *lineRange) bytesRead() int64 {
	if p.decoder != nil {
		return p.rest.bytesRead()
	}
	n := p.at - p.reported
	p.reported = p.at
	return n
}
