package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"berth/internal/job"
)

// bufferSize is how much is read of a file at once where lines are counted.
const bufferSize = 1 << 20

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// Progress is told what is read.
type Progress interface {
	Total(bytes int64)       // of the split
	In(bytes, records int64) // read since the last time
}

// OpenSplit returns the lines of a split, each with its newline: a last line without
// one gets it at each file's end, so files never run into each other. A line belongs
// to the range in which it begins. A read goes to the files at once, so it should be
// large. prog, which may be nil, is told the bytes taken from the files and the lines
// handed out. open opens the files; nil: this machine sees them.
//
// With spec.OffsetKeys each line comes after its offset in the (unpacked) file and a
// TAB, as Hadoop Streaming hands on the keys of formats other than TextInputFormat. With
// KeyValueTextInputFormat a command reads a line without a TAB with one at its end. The
// records of StreamXmlRecordReader and of SequenceFiles may be of several lines.
func OpenSplit(ctx context.Context, split job.Split, spec *job.MapReduceSpec, open Opener, prog Progress) (io.ReadCloser, error) {
	if open == nil {
		open = openHere
	}
	s := &splitReader{ctx: ctx, split: split, opener: open, format: formatOf(spec), prog: prog}
	var total int64
	for _, r := range split.Ranges {
		if r.Length < -1 || r.Offset < 0 {
			return nil, fmt.Errorf("split holds a range of %d bytes at %d of %s", r.Length, r.Offset, r.Path)
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

// InputError is an error of a file of the job's input, as a program's run returns it.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the file.
func (e *InputError) Unwrap() error { return e.Err }

// source reads one range. Read returns io.EOF after the range's last line has ended
// with a newline.
type source interface {
	io.ReadCloser
	// taken returns the bytes read from the file since the last call.
	taken() int64
}

// recordSource is a source whose records may be of several lines.
type recordSource interface {
	source
	// records returns how many records were handed out to their end since the last call.
	records() int64
}

// format returns the records of a range of a file that is open, and closes it where that fails.
type format func(file File, r job.Range) (source, error)

// formatOf returns how a job's input is read.
func formatOf(spec *job.MapReduceSpec) format {
	switch {
	case spec.InputFormat == "StreamXmlRecordReader":
		return func(file File, r job.Range) (source, error) { return newXMLRange(file, r, spec) }
	case isSequence(spec):
		return func(file File, r job.Range) (source, error) { return newSequenceRange(file, r, spec) }
	default:
		as := dressOf(spec)
		return func(file File, r job.Range) (source, error) { return newRange(file, r, as) }
	}
}

// splitReader strings the ranges of a split together.
type splitReader struct {
	ctx    context.Context
	split  job.Split
	next   int // range that is opened next
	opener Opener
	source source // of the range being read; nil between ranges
	format format
	prog   Progress

	err error // sticky
}

// Read fills p, across as many ranges as fit. An error comes with no bytes; after
// one, it comes again.
func (s *splitReader) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, lines, taken := 0, int64(0), int64(0)
	for n < len(p) && s.err == nil {
		if s.err = s.open(); s.err != nil {
			break
		}
		m, err := s.source.Read(p[n:])
		lines += s.records(p[n : n+m])
		taken += s.source.taken()
		n += m
		if errors.Is(err, io.EOF) {
			err = s.closeSource()
		}
		s.err = ofInput(err)
	}
	if s.prog != nil && n > 0 {
		s.prog.In(taken, lines)
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

// records returns how many records end in b, which the source has handed out.
func (s *splitReader) records(b []byte) int64 {
	if r, ok := s.source.(recordSource); ok {
		return r.records()
	}
	return int64(bytes.Count(b, lineEnd))
}

// lineEnd is what lines end with.
var lineEnd = []byte{'\n'}

// open sees to it that there is a source; io.EOF if no range is left.
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
		s.source, err = s.format(file, s.split.Ranges[index])
	}
	return ofInput(err)
}

// ofInput marks an error as the input's.
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

// Close gives up the file.
func (s *splitReader) Close() error {
	err := s.closeSource()
	s.err = fs.ErrClosed
	return err
}
