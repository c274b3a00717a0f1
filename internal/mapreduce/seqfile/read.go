package seqfile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// maxRecord is the largest size of a record, or of a list of a block, compressed or not, in bytes.
const maxRecord = 256 << 20

// Unpacker opens a reader of compressed data.
type Unpacker func(io.Reader) (io.ReadCloser, error)

// Reader reads the records of a range of a file: those of the groups that begin in the range.
type Reader struct {
	h Header
	stream
	stop   int64 // groups from this offset belong to the next range
	marked bool  // the stream is behind the sync mark of the next group
	done   bool  // no group begins in the range
	raw    []byte
	unpack *unpacker // nil: nothing is compressed
	block  block
}

// NewReader returns the reader of the range [start, stop) of a file. open returns the file's bytes from an offset. unpack is
// required if the header says that the file is compressed.
func NewReader(h Header, start, stop int64, open func(offset int64) io.Reader, unpack Unpacker) (*Reader, error) {
	r := &Reader{h: h, stop: stop}
	if h.Compressed {
		r.unpack = &unpacker{open: unpack}
	}
	r.at = max(start, h.Size)
	r.Reader = bufio.NewReaderSize(open(r.at), readSize)
	if start > h.Size {
		r.find()
	} else {
		r.done = r.at >= r.stop
	}
	return r, r.err
}

// readSize is how many bytes of a file are read at once.
const readSize = 256 << 10

// find goes behind the first sync mark of the range.
func (r *Reader) find() {
	mark := append([]byte{0xff, 0xff, 0xff, 0xff}, r.h.Sync[:]...)
	for r.at < r.stop && r.err == nil {
		window, err := r.Peek(readSize)
		i := bytes.Index(window, mark)
		switch {
		case i >= 0 && r.at+int64(i) < r.stop:
			r.marked = true
			r.skip(i + markSize)
			return
		case i >= 0, errors.Is(err, io.EOF):
			r.done = true
			return
		case err != nil:
			r.err = err
		default:
			r.skip(len(window) - markSize + 1)
		}
	}
	r.done = true
}

// Next returns the serialised key and value of the next record, valid until the next call. It returns io.EOF behind the last
// record.
func (r *Reader) Next() (key, value []byte, err error) {
	if r.h.Blocks {
		key, value = r.nextInBlock()
	} else {
		key, value = r.nextRecord()
	}
	if errors.Is(r.err, io.ErrUnexpectedEOF) && !errors.Is(r.err, ErrFormat) {
		r.err = damaged("it is cut off at byte %d", r.at)
	}
	return key, value, r.err
}

func (r *Reader) nextRecord() (key, value []byte) {
	length := r.length()
	keyLength := r.int32()
	if r.err == nil && (length > maxRecord || keyLength < 0 || keyLength > length) {
		r.err = damaged("the record at byte %d has %d bytes and a key of %d bytes", r.at, length, keyLength)
	}
	if r.raw = r.bytes(r.raw[:0], length); r.err != nil {
		return nil, nil
	}
	key, value = r.raw[:keyLength], r.raw[keyLength:]
	if r.unpack != nil {
		value, r.err = r.unpack.all(value)
	}
	return key, value
}

// length returns the length of the next record. The error is io.EOF at the end of the range.
func (r *Reader) length() int {
	if r.marked {
		r.marked = false
		return r.int32()
	}
	r.more()
	n := r.int32()
	if n == escape && r.err == nil {
		if r.at-4 >= r.stop {
			r.err = io.EOF
		}
		r.sync()
		r.more() // a writer may write a sync mark when it is closed
		n = r.int32()
	}
	if n < 0 {
		r.err = cmp.Or(r.err, damaged("the record at byte %d has %d bytes", r.at, n))
	}
	return n
}

// more sets the error io.EOF if no group begins in the range, or the file has no more bytes.
func (r *Reader) more() {
	if r.err == nil && r.done {
		r.err = io.EOF
	}
	if r.err == nil {
		_, r.err = r.Peek(1)
	}
}

// sync reads the bytes of a sync mark behind the escape.
func (r *Reader) sync() {
	if got := r.peek(syncSize); r.err == nil && !bytes.Equal(got, r.h.Sync[:]) {
		r.err = damaged("the bytes at offset %d are not the file's sync mark", r.at)
	}
	r.skip(syncSize)
}

// unpacker uncompresses texts one after the other. It reuses its reader if the reader has a Reset method.
type unpacker struct {
	open   Unpacker
	reader io.ReadCloser
	plain  bytes.Buffer
}

// all uncompresses one text. The result is valid until the next call.
func (u *unpacker) all(packed []byte) ([]byte, error) {
	err := u.begin(packed)
	u.plain.Reset()
	if err == nil {
		_, err = u.plain.ReadFrom(io.LimitReader(u.reader, maxRecord+1))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: its compressed data: %w", ErrFormat, err)
	}
	if u.plain.Len() > maxRecord {
		return nil, damaged("a part of it has more than %d MiB", maxRecord>>20)
	}
	return u.plain.Bytes(), nil
}

func (u *unpacker) begin(packed []byte) (err error) {
	if again, ok := u.reader.(interface{ Reset(r io.Reader) error }); ok {
		return again.Reset(bytes.NewReader(packed))
	}
	if u.reader != nil {
		err = u.reader.Close()
	}
	if err == nil {
		u.reader, err = u.open(bytes.NewReader(packed))
	}
	return err
}
