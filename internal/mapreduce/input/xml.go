package input

import (
	"bufio"
	"bytes"
	"cmp"
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
	recordRange
	begin, end []byte
	stop       int64 // records from this offset belong to the next range
	in         *bufio.Scanner
	pos        int64 // offset in the file behind what in has used
	oneLine    bool  // refuse a record with a newline
}

// newXMLRange returns the records of a range of an open file.
func newXMLRange(file File, r job.Range, spec *job.MapReduceSpec) (source, error) {
	in, stop, err := newRest(file, r)
	if err != nil {
		return nil, err
	}
	x := &xmlRange{recordRange: recordRange{rest: in}, begin: []byte(spec.Conf[job.XMLBeginKey]), end: []byte(spec.Conf[job.XMLEndKey]),
		pos: r.Offset, stop: stop, oneLine: spec.Mapper.Native != ""}
	x.next, x.in = x.nextRecord, bufio.NewScanner(x.stream)
	x.in.Buffer(make([]byte, tailChunk), maxXML)
	x.in.Split(x.split)
	return x, nil
}

// nextRecord reads a record into line. It returns io.EOF behind the last one.
func (x *xmlRange) nextRecord() error {
	switch {
	case x.in.Scan():
	case errors.Is(x.in.Err(), bufio.ErrTooLong):
		return x.refuse(x.pos, fmt.Sprintf("does not end within %d MiB", maxXML>>20), "check the texts begin and end of -inputreader")
	default:
		return cmp.Or(x.in.Err(), io.EOF)
	}
	record := x.in.Bytes()
	if x.oneLine && bytes.IndexByte(record, '\n') >= 0 {
		return x.refuse(x.pos-int64(len(record)), "contains a newline, but without a mapper a record is a line", "give a command as mapper; cat copies records")
	}
	x.line = append(append(x.line[:0], record...), '\t', '\n')
	return nil
}

// split finds the next record at the beginning of b, or returns how many bytes precede it (bufio.SplitFunc).
func (x *xmlRange) split(b []byte, _ bool) (used int, record []byte, err error) {
	i := bytes.Index(b, x.begin)
	if used = i; i < 0 {
		used = max(0, len(b)-len(x.begin)+1)
	}
	if x.pos+int64(used) >= x.stop {
		return 0, nil, bufio.ErrFinalToken
	}
	if i >= 0 {
		if n := bytes.Index(b[i:], x.end); n >= 0 {
			used += n + len(x.end)
			record = b[i:used]
		}
	}
	x.pos += int64(used)
	return used, record, nil
}

// refuse returns the error for the record at an offset.
func (x *xmlRange) refuse(at int64, what, do string) error {
	return job.UserError(x.file.Name(), fmt.Sprintf("the record at byte %d %s", at, what), do)
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
	x := rest{file: counting, stream: &fileRest{counting, r.Offset, r.Size}, most: max(r.Length, 0)}
	if r.Length >= 0 || r.Size == 0 {
		return x, r.Offset + x.most, nil
	}
	d, err := newDecoder(r.Path, bufio.NewReaderSize(x.stream, 128<<10))
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

// countingFile is a file with the number of bytes that were read from it.
type countingFile struct {
	File
	n int64
}

// fileRest reads a file from an offset to its end.
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
