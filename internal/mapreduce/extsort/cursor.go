package extsort

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/s2"

	"berth/internal/mapreduce/hadoop"
)

// segment is the position and the summary of a segment.
type segment struct {
	Extent
	segmentStat
}

// run is a partition of a file.
type run struct {
	file *File
	segment
}

// runsOf returns the runs of one partition in these files. Empty ones are left out.
func runsOf(files []*File, part int) []run {
	var runs []run
	for _, f := range files {
		if s := f.segments[part]; s.Length > 0 {
			runs = append(runs, run{f, s})
		}
	}
	return runs
}

// readStat reads the end block of a segment that is not empty.
func readStat(f io.ReaderAt, e Extent) (segmentStat, error) {
	if e.Length < endSize {
		return segmentStat{}, damaged("a segment of %d bytes", e.Length)
	}
	var b [endSize]byte
	if _, err := f.ReadAt(b[:], e.Offset+e.Length-endSize); err != nil {
		return segmentStat{}, readError(err)
	}
	return parseEnd(b[:])
}

// readError turns the end of the file into damage, as the index says that the file is longer.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("the file is cut off")
	}
	return err
}

// need returns the smallest buffer in which the segment can be read, in bytes: one block compressed
// and uncompressed.
func (s *segmentStat) need() int64 { return s.MaxRaw + s.unpacked() + headerSize + endSize + 16 }

// unpacked returns the size of the largest block that may be compressed, in bytes. Larger blocks
// contain one record each and are stored uncompressed.
func (s *segmentStat) unpacked() int64 { return min(s.MaxRaw, maxBlock) }

// cursor iterates over the records of a run.
type cursor struct {
	// The current record, valid until the next call of next.
	prefix uint64
	line   []byte // with its newline
	keyLen int
	count  int64

	raw []byte // the block
	pos int    // of the next record in raw
	cmp hadoop.Comparator

	run    run
	file   segmentFile
	block  uint32 // number of the next block
	left   int64  // bytes of the segment not yet read into in
	in     []byte // blocks as they are in the file, [inPos, inEnd) not yet used
	inPos  int
	inEnd  int
	unpack []byte
	seen   segmentStat
	read   *int64 // bytes read from files
}

// segmentFile is what a cursor reads.
type segmentFile interface {
	io.ReaderAt
	io.Closer
}

// openCursor opens a run. mem is at least as large as the run needs (segmentStat.need). The rest of
// it is used to read more at once. The cursor adds to read how many bytes it reads.
func openCursor(r run, cmp hadoop.Comparator, mem []byte, read *int64) (*cursor, error) {
	f, err := os.Open(r.file.path)
	if err != nil {
		return nil, &FileError{r.file, err}
	}
	return newCursor(f, r, cmp, mem, read), nil
}

// newCursor returns a cursor over a run in f, before its first record. close closes f.
func newCursor(f segmentFile, r run, cmp hadoop.Comparator, mem []byte, read *int64) *cursor {
	n := r.unpacked()
	return &cursor{cmp: cmp, run: r, file: f, left: r.Length, unpack: mem[:n:n], in: mem[n:], read: read}
}

// close closes the run's file.
func (c *cursor) close() { _ = c.file.Close() } // only read

// next goes to the next record. It returns false at the end.
func (c *cursor) next() (bool, error) {
	for c.pos >= len(c.raw) {
		more, err := c.load()
		if err != nil {
			return false, &FileError{c.run.file, err}
		}
		if !more {
			return false, nil
		}
	}
	if !c.decode() {
		return false, &FileError{c.run.file, damaged("record in block %d", c.block-1)}
	}
	return true, nil
}

// decode reads the record at pos.
func (c *cursor) decode() bool {
	raw, pos := c.raw, c.pos
	head, n := uvarint(raw[pos:])
	pos += n
	if n <= 0 || pos >= len(raw) {
		return false
	}
	rest, m := uvarint(raw[pos:])
	pos += m
	keyLen := head >> 1
	left := uint64(len(raw) - pos)
	if m <= 0 || keyLen >= left || rest >= left-keyLen {
		return false
	}
	end := pos + int(keyLen+rest) + 1
	c.line, c.keyLen, c.count = raw[pos:end:end], int(keyLen), 1
	if head&1 != 0 {
		count, n := uvarint(raw[end:])
		if n <= 0 || count < 2 || count > 1<<62 {
			return false
		}
		c.count = int64(count)
		end += n
	}
	c.prefix = c.cmp.Prefix(c.line[:keyLen])
	c.pos = end
	c.seen.Records += c.count
	c.seen.Bytes += c.count * int64(len(c.line))
	return true
}

// uvarint is binary.Uvarint, with numbers of one byte inlined.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// load reads the next block. It returns false at the end of the segment.
func (c *cursor) load() (bool, error) {
	head, err := c.consume(headerSize)
	if err != nil {
		return false, err
	}
	h, err := parseHeader(head, c.block)
	if err != nil {
		return false, err
	}
	if int64(h.Raw) > c.run.MaxRaw {
		return false, damaged("block %d is larger than the largest", c.block)
	}
	payload, err := c.consume(int(h.Length))
	if err != nil {
		return false, err
	}
	if err := h.checkPayload(payload, c.block); err != nil {
		return false, err
	}
	if h.Kind == blockEnd {
		return false, c.checkEnd(payload)
	}
	c.block++
	c.pos = 0
	c.raw = payload
	if h.Kind == blockS2 {
		raw := int(h.Raw)
		if n, err := s2.DecodedLen(payload); err != nil || n != raw || raw > len(c.unpack) {
			return false, damaged("length of block %d", c.block-1)
		}
		if c.raw, err = s2.Decode(c.unpack[:raw], payload); err != nil {
			return false, damaged("block %d: %v", c.block-1, err)
		}
	}
	return true, nil
}

// checkEnd compares the records that were read with the numbers in the end block.
func (c *cursor) checkEnd(payload []byte) error {
	s := parseStat(payload)
	if s.Records != c.seen.Records || s.Bytes != c.seen.Bytes || s.Blocks != c.block || c.left != 0 || c.inPos != c.inEnd {
		return damaged("a segment of %d records ends after %d", s.Records, c.seen.Records)
	}
	c.raw, c.pos = nil, 0
	return nil
}

// consume returns the next n bytes of the segment. They are valid until the next call.
func (c *cursor) consume(n int) ([]byte, error) {
	if c.inEnd-c.inPos < n {
		if err := c.refill(n); err != nil {
			return nil, err
		}
	}
	b := c.in[c.inPos : c.inPos+n]
	c.inPos += n
	return b, nil
}

// refill reads as many bytes of the segment as there is space for, so that at least n are available.
func (c *cursor) refill(n int) error {
	have := copy(c.in, c.in[c.inPos:c.inEnd])
	if n > len(c.in) || int64(n-have) > c.left {
		return damaged("block %d reaches beyond its segment", c.block)
	}
	want := int(min(int64(len(c.in)-have), c.left))
	at := c.run.Offset + c.run.Length - c.left
	if _, err := c.file.ReadAt(c.in[have:have+want], at); err != nil {
		return readError(err)
	}
	c.inPos, c.inEnd = 0, have+want
	c.left -= int64(want)
	*c.read += int64(want)
	return nil
}
