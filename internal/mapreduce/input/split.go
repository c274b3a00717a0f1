package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"berth/internal/core/job"
)

// bufferSize is how many bytes are read at once to count lines.
const bufferSize = 1 << 20

// Progress receives what is read.
type Progress interface {
	Total(bytes int64)       // of the split
	In(bytes, records int64) // read since the last call
}

// OpenSplit returns a reader of the lines of a split. Lines end with LF, CR or CR LF in files, as in Hadoop, and with LF
// here, also the last line of a file that has no end, so that lines of different files are not joined. A line belongs to the
// range in which it begins. Each Read reads from the files, so reads should be large. prog, which may be
// nil, receives the bytes read from the files and the lines returned. open opens the files; if it is nil,
// they are read from this machine's file systems.
//
// With spec.OffsetKeys each line is preceded by its offset in the (uncompressed) file and a TAB, as Hadoop
// Streaming writes the keys of formats other than TextInputFormat. With KeyValueTextInputFormat a TAB is
// added for a command to each line that has none. Records of StreamXmlRecordReader and of SequenceFiles
// may have several lines.
func OpenSplit(ctx context.Context, split job.Split, spec *job.MapReduceSpec, open Opener, prog Progress) (io.ReadCloser, error) {
	if open == nil {
		open = openHere
	}
	s := &splitReader{ctx: ctx, split: split, spec: spec, opener: open, prog: prog}
	var total int64
	for _, r := range split.Ranges {
		if r.Length < -1 || r.Offset < 0 {
			return nil, fmt.Errorf("the split has an invalid range of %d bytes at offset %d of %s", r.Length, r.Offset, r.Path)
		}
		if r.Length < 0 {
			total += r.Size
		} else {
			total += r.Length
		}
	}
	if prog != nil {
		prog.Total(total)
	}
	return s, nil
}

// InputError is an error of an input file of the job. It distinguishes such errors in the result of a
// program's Run from those of the program.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// source reads one range. Read returns io.EOF after the newline of the range's last line.
type source interface {
	io.ReadCloser
	// bytesRead returns the bytes read from the file since the last call.
	bytesRead() int64
}

// recordSource is a source whose records may have several lines.
type recordSource interface {
	source
	// records returns how many records were returned completely since the last call.
	records() int64
}

// newSource returns the source of a range of an open file, by the format of the job's input.
func newSource(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	switch {
	case spec.InputFormat == "StreamXmlRecordReader":
		return newXMLRange(file, r, spec)
	case isSequence(spec):
		return newSequenceRange(file, r, spec)
	default:
		return newLineRange(file, r, spec)
	}
}

// splitReader reads the ranges of a split one after the other.
type splitReader struct {
	ctx    context.Context
	split  job.Split
	spec   *job.MapReduceSpec
	next   int // index of the range that is opened next
	opener Opener
	source source // of the range being read; nil between ranges
	prog   Progress

	err error // sticky
}

// Read fills p, from as many ranges as necessary. It returns an error only without bytes, and from then on always.
func (s *splitReader) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, lines, read := 0, int64(0), int64(0)
	for n < len(p) && s.err == nil {
		if s.err = s.open(); s.err != nil {
			break
		}
		m, err := s.source.Read(p[n:])
		lines += s.records(p[n : n+m])
		read += s.source.bytesRead()
		n += m
		if err != nil { // a file that has changed may look damaged
			if cerr := s.closeSource(); errors.Is(err, io.EOF) || errors.As(cerr, new(Difference)) {
				err = cerr
			}
		}
		s.err = ofInput(err)
	}
	if s.prog != nil && n > 0 {
		s.prog.In(read, lines)
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

// records returns how many records end in b, which the source has returned.
func (s *splitReader) records(b []byte) int64 {
	if r, ok := s.source.(recordSource); ok {
		return r.records()
	}
	return int64(bytes.Count(b, lineEnd))
}

// lineEnd is the end of a line.
var lineEnd = []byte{'\n'}

// open opens the next range if there is no source. It returns io.EOF if no range is left.
func (s *splitReader) open() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.source != nil {
		return nil
	}
	if s.next == len(s.split.Ranges) {
		return io.EOF
	}
	index := s.next
	s.next++
	file, err := s.opener(s.ctx, s.split, index)
	if err == nil {
		if s.source, err = newSource(file, s.split.Ranges[index], s.spec); err != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return ofInput(err)
}

// ofInput marks an error as an error of the input.
func ofInput(err error) error {
	if err == nil {
		return nil
	}
	return &InputError{err}
}

func (s *splitReader) closeSource() error {
	if s.source == nil {
		return nil
	}
	err := s.source.Close()
	s.source = nil
	return err
}

// Close closes the present file. Its error says that what was read of it may not be what was listed.
func (s *splitReader) Close() error {
	err := s.closeSource()
	s.err = fs.ErrClosed
	return ofInput(err)
}
