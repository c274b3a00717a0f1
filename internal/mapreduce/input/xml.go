package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/core/job"
)

// maxXML is the largest size of a record, in bytes. A record is in memory until its end is found.
const maxXML = 64 << 20

// xmlRange reads the records of a range as Hadoop's StreamXmlRecordReader does. A record extends from a
// begin mark to the next end mark, both included, and belongs to the range in which its begin mark
// starts. Text between records is skipped, and so is a record without an end. A record is returned as
// Hadoop Streaming writes it to a mapper: the record is the key, the value is empty, with a TAB between
// them and a newline behind them.
type xmlRange struct {
	rest       // the file from the range's offset
	begin, end []byte
	stop       int64  // records from this offset belong to the next range
	buf        []byte // bytes of the file that were not used
	pos        int64  // offset of buf in the file
	out        []byte // the part of the record that was not returned
	line       []byte // the record; out is a part of it
	oneLine    bool   // refuse a record with a newline
	count      int64  // records returned since the last call of records
}

// newXMLRange returns the records of a range of an open file. On an error it closes the file.
func newXMLRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &xmlRange{rest: in, begin: []byte(spec.Conf[job.XMLBeginKey]), end: []byte(spec.Conf[job.XMLEndKey]),
		pos: r.Offset, stop: stop, oneLine: spec.Mapper.Native != ""}, nil
}

// Read reads records.
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

// next reads a record into out. It returns io.EOF behind the last one.
func (x *xmlRange) next() error {
	if err := x.seek(); err != nil {
		return err
	}
	for from := 0; ; {
		if i := bytes.Index(x.buf[from:], x.end); i >= 0 {
			return x.emit(from + i + len(x.end))
		}
		from = max(0, len(x.buf)-len(x.end)+1)
		if len(x.buf) > maxXML {
			return x.refuse(fmt.Sprintf("does not end within %d MiB", maxXML>>20), "check the texts begin and end of -inputreader")
		}
		if err := x.more(); err != nil {
			return err
		}
	}
}

// seek skips to the next begin mark.
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

// emit makes the first n bytes of buf the record that is returned.
func (x *xmlRange) emit(n int) error {
	if x.oneLine && bytes.IndexByte(x.buf[:n], '\n') >= 0 {
		return x.refuse("contains a newline, but without a mapper a record is a line", "give a command as mapper; cat copies records")
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

// refuse returns the error for the record at pos.
func (x *xmlRange) refuse(what, do string) error {
	return &job.Error{Class: job.User, Code: job.CodeFailed, Where: x.file.Name(), What: fmt.Sprintf("the record at byte %d %s", x.pos, what), Do: do}
}

func (x *xmlRange) records() int64 {
	n := x.count
	x.count = 0
	return n
}

// rest reads a file from the offset of a range to its end. It uncompresses a compressed file.
type rest struct {
	file     *countingFile
	stream   io.Reader
	most     int64 // bytes of the range on disk; bytes read behind its end are not reported
	reported int64 // bytes returned by bytesRead so far
	close    func() error
}

// newRest opens a range. It also returns the offset at which the range ends, in the uncompressed file.
func newRest(file File, r job.Range) (rest, int64, error) {
	size, err := file.Size()
	switch {
	case err != nil:
		return rest{}, 0, err
	case size != r.Size:
		return rest{}, 0, changedSize(r.Path, r.Size, size)
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

func (x *rest) bytesRead() int64 {
	n := min(x.file.n, x.most) - x.reported
	x.reported += n
	return n
}

// Close closes the file.
func (x *rest) Close() error { return x.close() }

// fileRest reads a plain file from an offset to its end.
type fileRest struct {
	*countingFile
	at, size int64
}

// Read returns io.EOF at the size that the file had when the job was planned.
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
		return 0, changedSize(f.Name(), f.size, f.at)
	default:
		return 0, inputError(f.Name(), err)
	}
}
