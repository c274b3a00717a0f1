package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

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
	recordRange
	begin, end []byte
	stop       int64  // records from this offset belong to the next range
	buf        []byte // bytes of the file that were not used
	pos        int64  // offset of buf in the file
	oneLine    bool   // refuse a record with a newline
}

// newXMLRange returns the records of a range of an open file.
func newXMLRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, err
	}
	x := &xmlRange{recordRange: recordRange{rest: in}, begin: []byte(spec.Conf[job.XMLBeginKey]), end: []byte(spec.Conf[job.XMLEndKey]),
		pos: r.Offset, stop: stop, oneLine: spec.Mapper.Native != ""}
	x.next = x.nextRecord
	return x, nil
}

// nextRecord reads a record into line. It returns io.EOF behind the last one.
func (x *xmlRange) nextRecord() error {
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
	x.drop(n)
	return nil
}

func (x *xmlRange) drop(n int) {
	x.buf = x.buf[n:]
	x.pos += int64(n)
}

// more reads the next bytes of the file into buf.
func (x *xmlRange) more() error {
	have := len(x.buf)
	x.buf = slices.Grow(x.buf, tailChunk)
	n, err := x.stream.Read(x.buf[have : have+tailChunk])
	if x.buf = x.buf[:have+n]; n > 0 {
		return nil
	}
	return err
}

// refuse returns the error for the record at pos.
func (x *xmlRange) refuse(what, do string) error {
	return job.UserError(x.file.Name(), fmt.Sprintf("the record at byte %d %s", x.pos, what), do)
}

// recordRange returns the records of a range one after the other.
type recordRange struct {
	rest
	next  func() error // reads the next record into line
	line  []byte       // a record
	out   []byte       // the part of line that was not returned
	count int64        // records returned since the last call of records
}

// Read reads records.
func (r *recordRange) Read(b []byte) (int, error) {
	if len(r.out) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
		r.out = r.line
	}
	n := copy(b, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		r.count++
	}
	return n, nil
}

func (r *recordRange) records() int64 {
	n := r.count
	r.count = 0
	return n
}

// rest reads a file from the offset of a range to its end. It uncompresses a compressed file.
type rest struct {
	file     *countingFile
	decoder  *decoder // nil: the file is plain
	stream   io.Reader
	most     int64 // bytes of the range on disk; bytes read behind its end are not reported
	reported int64 // bytes returned by bytesRead so far
}

// newRest opens a range. It also returns the offset at which the range ends, in the uncompressed file.
func newRest(file File, r job.Range) (rest, int64, error) {
	if size := file.Size(); size != r.Size {
		return rest{}, 0, changedSize(r.Path, r.Size, size)
	}
	counting := &countingFile{File: file}
	x := rest{file: counting, most: max(r.Length, 0)}
	if r.Length >= 0 || r.Size == 0 {
		x.stream = &fileRest{countingFile: counting, at: r.Offset, size: r.Size}
		return x, r.Offset + x.most, nil
	}
	d, err := newDecoder(r.Path, bufio.NewReaderSize(counting, 128<<10))
	x.decoder, x.stream, x.most = d, d, r.Size
	return x, int64(1) << 62, err
}

func (x *rest) bytesRead() int64 {
	n := min(x.file.n, x.most) - x.reported
	x.reported += n
	return n
}

// Close closes the file.
func (x *rest) Close() (err error) {
	if x.decoder != nil {
		err = x.decoder.Close()
	}
	return errors.Join(err, x.file.Close())
}

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
