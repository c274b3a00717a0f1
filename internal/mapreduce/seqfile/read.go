package seqfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
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
	h      Header
	in     *bufio.Reader
	at     int64 // offset of in
	stop   int64 // groups from this offset belong to the next range
	marked bool  // in is behind the sync mark of the next group
	done   bool  // no group begins in the range
	raw    []byte
	unpack *unpacker // nil: nothing is compressed
	block  block
}

// NewReader returns the reader of the range [start, stop) of a file. open returns the file's bytes from an offset. unpack is
// required if the header says that the file is compressed.
func NewReader(h Header, start, stop int64, open func(offset int64) io.Reader, unpack Unpacker) (*Reader, error) {
	r := &Reader{h: h, stop: stop, at: max(start, h.Size)}
	if h.Compressed {
		r.unpack = &unpacker{open: unpack}
	}
	r.in = bufio.NewReaderSize(open(r.at), readSize)
	var err error
	if start > h.Size {
		err = r.find()
	}
	r.done = r.at >= r.stop
	return r, err
}

// readSize is how many bytes of a file are read at once.
const readSize = 256 << 10

// find goes to the first sync mark at offset at or behind it.
func (r *Reader) find() error {
	mark := append([]byte{0xff, 0xff, 0xff, 0xff}, r.h.Sync[:]...)
	for r.at < r.stop {
		window, err := r.in.Peek(readSize)
		i := bytes.Index(window, mark)
		if i >= 0 {
			if r.at += int64(i); r.at >= r.stop {
				return nil
			}
			r.marked = true
			return r.skip(i + markSize)
		}
		if errors.Is(err, io.EOF) {
			r.at = r.stop
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.skip(len(window) - markSize + 1); err != nil {
			return err
		}
		r.at += int64(len(window) - markSize + 1)
	}
	return nil
}

func (r *Reader) skip(n int) error {
	_, err := r.in.Discard(n)
	return err
}

// Next returns the serialised key and value of the next record, valid until the next call. It returns io.EOF behind the last
// record.
func (r *Reader) Next() (key, value []byte, err error) {
	if r.h.Blocks {
		return r.nextInBlock()
	}
	length, err := r.length()
	if err != nil {
		return nil, nil, err
	}
	keyLength, err := r.int32()
	if err != nil {
		return nil, nil, err
	}
	if length > maxRecord || keyLength < 0 || keyLength > length {
		return nil, nil, damaged("the record at byte %d has %d bytes and a key of %d bytes", r.at, length, keyLength)
	}
	if r.raw, err = readBytes(r.in, r.raw[:0], length); err != nil {
		return nil, nil, r.cut(err)
	}
	r.at += int64(length)
	key, value = r.raw[:keyLength], r.raw[keyLength:]
	if r.unpack != nil {
		value, err = r.unpack.all(value)
	}
	return key, value, err
}

// length returns the length of the next record. It returns io.EOF at the end of the range.
func (r *Reader) length() (int, error) {
	if r.marked {
		r.marked = false
		r.at += markSize
		return r.int32()
	}
	if err := r.more(); err != nil {
		return 0, err
	}
	n, err := r.int32()
	if err != nil || n != escape {
		if n < 0 {
			err = errors.Join(err, damaged("the record at byte %d has %d bytes", r.at, n))
		}
		return n, err
	}
	if r.at-4 >= r.stop {
		return 0, io.EOF
	}
	if err := r.sync(); err != nil {
		return 0, err
	}
	if err := r.more(); err != nil { // a writer may write a sync mark when it is closed
		return 0, err
	}
	return r.int32()
}

// more returns io.EOF if no group begins in the range, or the file has no more bytes.
func (r *Reader) more() error {
	if r.done {
		return io.EOF
	}
	_, err := r.in.Peek(1)
	return err
}

// sync reads the bytes of a sync mark behind the escape.
func (r *Reader) sync() error {
	got, err := r.in.Peek(syncSize)
	if err != nil {
		return r.cut(err)
	}
	if !bytes.Equal(got, r.h.Sync[:]) {
		return damaged("the bytes at offset %d are not the file's sync mark", r.at)
	}
	r.at += syncSize
	return r.skip(syncSize)
}

func (r *Reader) int32() (int, error) {
	b, err := r.in.Peek(4)
	if err != nil {
		return 0, r.cut(err)
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	r.at += 4
	return n, r.skip(4)
}

// cut returns the error for a file that ends too early.
func (r *Reader) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("it is cut off at byte %d", r.at)
	}
	return err
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
