package seqfile

import (
	"cmp"
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
func (r *Reader) nextInBlock() (key, value []byte) {
	for r.block.left == 0 && r.err == nil {
		r.readBlock()
	}
	r.block.left--
	if r.err == nil {
		key, r.err = r.block.next(keyLengths)
	}
	if r.err == nil {
		value, r.err = r.block.next(valueLengths)
	}
	return key, value
}

// next returns the next text of the keys or the values. lengths is the list of their lengths.
func (b *block) next(lengths int) ([]byte, error) {
	n, rest, whole := varint(b.lists[lengths])
	texts := b.lists[lengths+1]
	if !whole || n < 0 || n > int64(len(texts)) {
		return nil, damaged("a block contains a wrong length of a record")
	}
	b.lists[lengths], b.lists[lengths+1] = rest, texts[n:]
	return texts[:n], nil
}

// readBlock reads the next block. The error is io.EOF at the end of the range.
func (r *Reader) readBlock() {
	r.blockMark()
	at := r.at
	records := r.varint()
	if records < 0 {
		r.err = cmp.Or(r.err, damaged("the block at byte %d has %d records", at, records))
	}
	for i := range r.block.lists {
		r.readPart(i)
	}
	r.block.left = records
}

// blockMark reads the sync mark of a block.
func (r *Reader) blockMark() {
	if r.marked {
		r.marked = false
		return
	}
	r.more()
	if r.err == nil && r.at >= r.stop {
		r.err = io.EOF
	}
	if n := r.int32(); r.err == nil && n != escape {
		r.err = damaged("no block begins at byte %d", r.at-4)
	}
	r.sync()
}

// readPart reads and uncompresses a list of a block.
func (r *Reader) readPart(i int) {
	at := r.at
	n := r.varint()
	if n < 0 || n > maxRecord {
		r.err = cmp.Or(r.err, damaged("the part of a block at byte %d has %d bytes", at, n))
	}
	if r.raw = r.bytes(r.raw[:0], int(n)); r.err == nil && r.unpack == nil {
		r.err = fmt.Errorf("%w: blocks without a codec", ErrFormat)
	}
	if r.err == nil {
		var plain []byte
		plain, r.err = r.unpack.all(r.raw)
		r.block.lists[i] = slices.Clone(plain)
	}
}
