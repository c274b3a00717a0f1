package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/core/job"
	"berth/internal/mapreduce/seqfile"
)

// isSequence reports whether a job reads SequenceFiles.
func isSequence(spec *job.MapReduceSpec) bool {
	return spec.InputFormat == job.SequenceInput || spec.InputFormat == job.SequenceTextInput
}

// sequenceRange reads the records of a range of a SequenceFile. It returns each record as Hadoop Streaming writes it to a mapper:
// key, TAB, value, newline.
type sequenceRange struct {
	recordRange
	reader   *seqfile.Reader
	key, val seqfile.Texter
	noKey    bool // return only the value
	oneLine  bool // refuse a record that is not one line, or whose key has a TAB
}

// newSequenceRange returns the records of a range of an open file.
func newSequenceRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, err
	}
	s := &sequenceRange{recordRange: recordRange{rest: in}, noKey: spec.IgnoreKeys, oneLine: spec.Mapper.Native != ""}
	s.next = func() error { return s.failed(s.nextRecord()) }
	if r.Size == 0 {
		return s, nil
	}
	if err := s.begin(r.Offset, stop, r.Size, spec.InputFormat == job.SequenceInput); err != nil {
		return nil, s.failed(err)
	}
	return s, nil
}

// begin reads the header and finds the first record of the range.
func (s *sequenceRange) begin(start, stop, size int64, rawBytes bool) error {
	from := func(offset int64) io.Reader { return &fileRest{s.file, offset, size} }
	h, err := seqfile.ReadHeader(from(0))
	if err != nil {
		return err
	}
	var verr error
	s.key, err = seqfile.TextOf(h.Key, rawBytes)
	s.val, verr = seqfile.TextOf(h.Value, rawBytes)
	if err = errors.Join(err, verr); err != nil {
		return err
	}
	var unpack seqfile.Unpacker
	if h.Compressed {
		c := codecOfClass(h.Codec)
		if c == nil {
			return fmt.Errorf("it is compressed with %s, which berth cannot read", h.Codec)
		}
		unpack = c.reader
	}
	s.reader, err = seqfile.NewReader(h, start, stop, from, unpack)
	return err
}

// codecOfClass returns the codec of a Java class, or nil.
func codecOfClass(class string) *Codec {
	if class == codecPackage+"DeflateCodec" {
		class = codecPackage + "DefaultCodec"
	}
	return findCodec(func(c *Codec) bool { return c.Class == class })
}

// nextRecord reads the next record into line.
func (s *sequenceRange) nextRecord() error {
	if s.reader == nil {
		return io.EOF // the file is empty
	}
	key, value, err := s.reader.Next()
	if err != nil {
		return err
	}
	s.line = s.line[:0]
	if !s.noKey {
		if s.line, err = s.key(s.line, key); err != nil {
			return err
		}
		if s.oneLine && bytes.IndexByte(s.line, '\t') >= 0 {
			return errors.New("a key contains a TAB; without a mapper the first TAB of a record ends its key, so give a command as mapper")
		}
		s.line = append(s.line, '\t')
	}
	if s.line, err = s.val(s.line, value); err != nil {
		return err
	}
	if s.oneLine && bytes.IndexByte(s.line, '\n') >= 0 {
		return errors.New("a record contains a newline; without a mapper a record is a line, so give a command as mapper")
	}
	s.line = append(s.line, '\n')
	return nil
}

// failed returns the error for a SequenceFile that cannot be read. It returns io.EOF and errors of the file system unchanged.
func (s *sequenceRange) failed(err error) error {
	if err == nil || errors.As(err, new(*job.Error)) || errors.Is(err, io.EOF) && !errors.Is(err, seqfile.ErrFormat) {
		return err
	}
	return job.IOError(job.User, s.file.Name(), "cannot be read as a SequenceFile", err).Advice("write the file again, or leave it out of the input")
}
