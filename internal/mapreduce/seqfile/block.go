package seqfile

import (
	"fmt"
	"io"
	"slices"
)

// block is a group of a file with compressed blocks: four lists, each compressed by itself.
type block struct {
	left  int64 // records that were not yet returned
	lists [4][]byte
}

// The parts of a block in their order.
const (
	keyLengths = iota
	keyBytes
	valueLengths
	valueBytes
)

// nextInBlock returns the next record of a file with compressed blocks.
func (r *Reader) nextInBlock() (key, value []byte, err error) {
	for r.block.left == 0 {
		if err := r.readBlock(); err != nil {
			return nil, nil, err
		}
	}
	r.block.left--
	if key, err = r.block.next(keyLengths); err != nil {
		return nil, nil, err
	}
	value, err = r.block.next(valueLengths)
	return key, value, err
}

// next returns the next text of the keys or the values. lengths is the list of their lengths.
func (b *block) next(lengths int) ([]byte, error) {
	n, rest, err := varint(b.lists[lengths])
	texts := b.lists[lengths+1]
	if err != nil || n < 0 || n > int64(len(texts)) {
		return nil, damaged("a block contains a wrong length of a record")
	}
	b.lists[lengths], b.lists[lengths+1] = rest, texts[n:]
	return texts[:n], nil
}

// readBlock reads the next block. It returns io.EOF at the end of the range.
func (r *Reader) readBlock() error {
	if err := r.blockMark(); err != nil {
		return err
	}
	records, size, err := readVarint(r.in)
	if err != nil {
		return r.cut(err)
	}
	if records < 0 {
		return damaged("the block at byte %d has %d records", r.at, records)
	}
	r.at += int64(size)
	for i := range r.block.lists {
		if err := r.readPart(i); err != nil {
			return err
		}
	}
	r.block.left = records
	return nil
}

// blockMark reads the sync mark of a block.
func (r *Reader) blockMark() error {
	if r.marked {
		r.marked = false
		r.at += markSize
		return nil
	}
	if err := r.more(); err != nil {
		return err
	}
	if r.at >= r.stop {
		return io.EOF
	}
	n, err := r.int32()
	switch {
	case err != nil:
		return err
	case n != escape:
		return damaged("no block begins at byte %d", r.at-4)
	}
	return r.sync()
}

// readPart reads and uncompresses a list of a block.
func (r *Reader) readPart(i int) error {
	n, size, err := readVarint(r.in)
	if err != nil {
		return r.cut(err)
	}
	if n < 0 || n > maxRecord {
		return damaged("the part of a block at byte %d has %d bytes", r.at, n)
	}
	r.at += int64(size)
	if r.raw, err = readBytes(r.in, r.raw[:0], int(n)); err != nil {
		return r.cut(err)
	}
	r.at += n
	if r.unpack == nil {
		return fmt.Errorf("%w: blocks without a codec", ErrFormat)
	}
	plain, err := r.unpack.all(r.raw)
	r.block.lists[i] = slices.Clone(plain)
	return err
}
