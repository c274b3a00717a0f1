package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/job"
)

// maxXML bounds the bytes of a record, which is held in memory until its end is found.
const maxXML = 64 << 20

// xmlRange reads the records of a range as Hadoop's StreamXmlRecordReader does. A record goes from
// a begin mark to the next end mark, both included, and belongs to the range in which its begin
// mark starts. What stands between records is passed over, and so is a record without an end.
// Each record is handed out as Hadoop Streaming writes it to a mapper: the record is the key, the
// value is empty, a TAB is between them and a newline behind them.
type xmlRange struct {
	rest       // of the file, from the range's offset on
	begin, end []byte
	stop       int64  // offset from which on records belong to the next range
	buf        []byte // bytes of the file that are not handed out
	pos        int64  // offset of buf in the file
	out        []byte // the part of a record that is not handed out
	line       []byte // what out is a part of
	oneLine    bool   // a record with a newline is refused
	count      int64  // records handed out since the last call of records
}

// newXMLRange returns the records of a range of an open file, and closes it where that fails.
func newXMLRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &xmlRange{rest: in, begin: []byte(spec.Conf[job.XMLBeginKey]), end: []byte(spec.Conf[job.XMLEndKey]),
		pos: r.Offset, stop: stop, oneLine: spec.Mapper.Native != ""}, nil
}

// Read hands out records.
func (x *xmlRange) Read(b []byte) (int, error) {
	if len(x.out) == 0 {
		if err := x.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, x.out)
	if x.out = x.out[n:]; len(x.out) == 0 {
		x.count++
	}
	return n, nil
}

// next reads a record into out, or returns io.EOF behind the last one.
func (x *xmlRange) next() error {
	if err := x.seek(); err != nil {
		return err
	}
	for from := 0; ; {
		if i := bytes.Index(x.buf[from:], x.end); i >= 0 {
			return x.take(from + i + len(x.end))
		}
		from = max(0, len(x.buf)-len(x.end)+1)
		if len(x.buf) > maxXML {
			return x.refuse(fmt.Sprintf("has no end within %d MiB", maxXML>>20), "check the texts begin and end of -inputreader")
		}
		if err := x.more(); err != nil {
			return err
		}
	}
}

// seek drops what is before the next begin mark.
func (x *xmlRange) seek() error {
	for {
		i := bytes.Index(x.buf, x.begin)
		if i < 0 {
			x.drop(max(0, len(x.buf)-len(x.begin)+1))
		} else {
			x.drop(i)
		}
		switch {
		case x.pos >= x.stop:
			return io.EOF
		case i >= 0:
			return nil
		}
		if err := x.more(); err != nil {
			return err
		}
	}
}

// take makes the first n bytes of buf the record that is handed out.
func (x *xmlRange) take(n int) error {
	if x.oneLine && bytes.IndexByte(x.buf[:n], '\n') >= 0 {
		return x.refuse("holds a newline, and without a mapper berth's records are lines", "give a command as mapper; cat hands records on")
	}
	x.line = append(append(x.line[:0], x.buf[:n]...), '\t', '\n')
	x.out = x.line
	x.drop(n)
	return nil
}

func (x *xmlRange) drop(n int) {
	x.buf = x.buf[n:]
	x.pos += int64(n)
}

// more reads the next bytes of the file into buf.
func (x *xmlRange) more() error {
	chunk := buffers.Get().(*[]byte)
	defer buffers.Put(chunk)
	n, err := x.read((*chunk)[:tailChunk])
	x.buf = append(x.buf, (*chunk)[:n]...)
	if n > 0 {
		return nil
	}
	return err
}

// refuse is the error for the record at pos.
func (x *xmlRange) refuse(what, do string) error {
	return &job.Error{Class: job.User, Code: job.CodeFailed, Where: x.file.Name(), What: fmt.Sprintf("the record at byte %d %s", x.pos, what), Do: do}
}

func (x *xmlRange) records() int64 {
	n := x.count
	x.count = 0
	return n
}

// rest reads a file from the offset of a range to its end; a compressed file is unpacked.
type rest struct {
	file   *countingFile
	stream io.Reader
	most   int64 // bytes of the range on disk: what is read ahead of its end is not told
	told   int64 // bytes told by taken
	close  func() error
}

// newRest returns what a range begins with, and the offset at which the range ends in the unpacked file.
func newRest(file File, r job.Range) (rest, int64, error) {
	size, err := file.Size()
	switch {
	case err != nil:
		return rest{}, 0, err
	case size != r.Size:
		return rest{}, 0, changedError(r.Path, r.Size, size)
	}
	counting := &countingFile{File: file}
	x := rest{file: counting, close: file.Close, most: r.Length}
	if r.Length >= 0 || r.Size == 0 {
		x.stream = &fileRest{countingFile: counting, at: r.Offset, size: r.Size}
		return x, r.Offset + max(r.Length, 0), nil
	}
	d, err := newDecoder(r.Path, codecOf(r.Path), bufio.NewReaderSize(counting, 128<<10))
	x.stream, x.most = d, r.Size
	x.close = func() error { return errors.Join(d.Close(), file.Close()) }
	return x, int64(1) << 62, err
}

func (x *rest) read(b []byte) (int, error) { return x.stream.Read(b) }

func (x *rest) taken() int64 {
	n := min(x.file.n, x.most) - x.told
	x.told += n
	return n
}

// Close gives up the file.
func (x *rest) Close() error { return x.close() }

// fileRest reads a plain file from an offset to its end.
type fileRest struct {
	*countingFile
	at, size int64
}

// Read returns io.EOF at the end that the file had when the job was planned.
func (f *fileRest) Read(b []byte) (int, error) {
	if f.at == f.size {
		return 0, io.EOF
	}
	n, err := f.ReadAt(b[:min(int64(len(b)), f.size-f.at)], f.at)
	f.at += int64(n)
	f.n += int64(n)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, changedError(f.Name(), f.size, f.at)
	default:
		return 0, inputError(f.Name(), err)
	}
}
