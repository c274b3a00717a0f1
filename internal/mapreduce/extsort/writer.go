package extsort

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/klauspost/compress/s2"
)

// runWriter writes a scratch file. Its caller adds the records in ascending order of partitions, and
// sorted in each partition. Equal records that follow each other become one record with a count.
type runWriter struct {
	file       *os.File
	path       string
	out        []byte // to be written: whole blocks in [0, open), then a block being filled
	open       int    // where that block's header will be
	n          int    // used of out
	tmp        []byte // a compressed block
	block      int    // size at which a block is closed
	skip       int    // blocks to be stored without trying to compress them
	skipped    int    // how many the last run of them was
	at         int64  // offset in the file of out[0]
	partitions int
	segments   []segment   // of the partitions; the last one is being written
	stat       segmentStat // of the partition being written

	last struct { // the block's last record, if line > 0
		head, line, keyLen int // where it is in out; the line ends at n without a count
		end                int // of the line
		count              int64
	}
}

// maxVarints is the largest size of the three numbers of a record, in bytes.
const maxVarints = 3 * binary.MaxVarintLen64

// maxSkip is how many blocks are stored between two attempts to compress.
const maxSkip = 15

// writerMemory returns the memory that a writer needs for blocks of this size, in bytes.
func writerMemory(block int) int { return writerBuffer(block) + s2.MaxEncodedLen(block) + 8 }

func writerBuffer(block int) int { return 4 * (block + headerSize) }

// createRun creates a scratch file for this number of partitions. mem has writerMemory(block) bytes.
func createRun(path string, partitions, block int, mem []byte) (*runWriter, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, ScratchError(path, err)
	}
	size := writerBuffer(block)
	w := &runWriter{
		file: f, path: path, out: mem[:size], tmp: mem[size:], block: block,
		partitions: partitions,
	}
	w.n = copy(w.out, magic)
	w.beginBlock()
	w.skipTo(0)
	return w, nil
}

func (w *runWriter) beginBlock() {
	w.open = w.n
	w.n += headerSize
	w.last.line = 0
}

// add adds count equal records. line ends with its newline.
func (w *runWriter) add(part int, line []byte, keyLen int, count int64) error {
	if part != len(w.segments)-1 {
		if err := w.begin(part); err != nil {
			return err
		}
	}
	w.stat.Records += count
	w.stat.Bytes += count * int64(len(line))
	if w.last.line > 0 && keyLen == w.last.keyLen && bytes.Equal(line, w.out[w.last.line:w.last.end]) {
		w.last.count += count
		w.countLast()
		return nil
	}
	if w.n-w.open-headerSize+len(line)+maxVarints > w.block {
		if err := w.closeBlock(); err != nil {
			return err
		}
		if len(line)+maxVarints > w.block {
			return w.addLarge(line, keyLen, count)
		}
	}
	head := w.n
	b := append(appendHead(w.out[:head], line, keyLen, count), line...)
	w.n = len(b)
	w.last.head, w.last.line, w.last.end = head, w.n-len(line), w.n
	w.last.keyLen, w.last.count = keyLen, count
	if count > 1 {
		w.countLast()
	}
	return nil
}

// appendHead appends the numbers that precede the line of a record.
func appendHead(b, line []byte, keyLen int, count int64) []byte {
	first := uint64(keyLen) << 1
	if count > 1 {
		first |= 1
	}
	b = binary.AppendUvarint(b, first)
	return binary.AppendUvarint(b, uint64(len(line)-1-keyLen))
}

// countLast writes the count of the last record behind its line.
func (w *runWriter) countLast() {
	w.out[w.last.head] |= 1
	w.n = len(binary.AppendUvarint(w.out[:w.last.end], uint64(w.last.count)))
}

// addLarge writes a record as an uncompressed block of its own, without copying its line.
func (w *runWriter) addLarge(line []byte, keyLen int, count int64) error {
	if err := w.flush(w.open); err != nil {
		return err
	}
	head := appendHead(make([]byte, headerSize, headerSize+maxVarints), line, keyLen, count)
	var tail []byte
	if count > 1 {
		tail = binary.AppendUvarint(nil, uint64(count))
	}
	var crc uint32
	raw := 0
	for _, part := range [][]byte{head[headerSize:], line, tail} {
		crc = crc32.Update(crc, castagnoli, part)
		raw += len(part)
	}
	putHeader(head, header{Length: uint32(raw), Raw: uint32(raw), Kind: blockStored, CRC: crc}, w.stat.Blocks)
	w.countBlock(raw)
	for _, part := range [][]byte{head, line, tail} {
		if _, err := w.file.Write(part); err != nil {
			return ScratchError(w.path, err)
		}
		w.at += int64(len(part))
	}
	w.n = 0
	w.beginBlock()
	return nil
}

func (w *runWriter) countBlock(raw int) {
	w.stat.Blocks++
	w.stat.MaxRaw = max(w.stat.MaxRaw, int64(raw))
}

// closeBlock completes the open block, unless it is empty, and begins another.
func (w *runWriter) closeBlock() error {
	payload := w.out[w.open+headerSize : w.n]
	if len(payload) > 0 {
		raw := len(payload)
		payload, kind := w.pack(payload)
		putHeader(w.out[w.open:], header{Length: uint32(len(payload)), Raw: uint32(raw), Kind: kind, CRC: crc32.Checksum(payload, castagnoli)}, w.stat.Blocks)
		w.countBlock(raw)
		w.open += headerSize + len(payload)
	}
	w.n = w.open
	if len(w.out)-w.n < w.block+headerSize {
		if err := w.flush(w.n); err != nil {
			return err
		}
		w.n = 0
	}
	w.beginBlock()
	return nil
}

// pack compresses a payload in place. If compression does not make it smaller, it is stored, and so
// are the blocks after it without a further attempt: 1, then 3, 7 and at most maxSkip of them.
func (w *runWriter) pack(payload []byte) ([]byte, byte) {
	if w.skip > 0 {
		w.skip--
		return payload, blockStored
	}
	if packed := s2.Encode(w.tmp, payload); len(packed) < len(payload)-len(payload)/16 {
		w.skipped = 0
		return payload[:copy(payload, packed)], blockS2
	}
	w.skipped = min(2*w.skipped+1, maxSkip)
	w.skip = w.skipped
	return payload, blockStored
}

// flush writes out[:n].
func (w *runWriter) flush(n int) error {
	if _, err := w.file.Write(w.out[:n]); err != nil {
		return ScratchError(w.path, err)
	}
	w.at += int64(n)
	return nil
}

// begin ends the current partition and begins part.
func (w *runWriter) begin(part int) error {
	if part < len(w.segments) || part >= w.partitions {
		return fmt.Errorf("partition %d of %d written after %d", part, w.partitions, len(w.segments)-1)
	}
	if err := w.endSegment(); err != nil {
		return err
	}
	w.skipTo(part)
	return nil
}

// skipTo makes part the current partition. The partitions between the last one and part are empty.
func (w *runWriter) skipTo(part int) {
	for len(w.segments) <= part {
		w.segments = append(w.segments, segment{Extent: Extent{Offset: w.at + int64(w.open)}})
	}
}

// endSegment writes the end block of the current partition, unless the partition is empty.
func (w *runWriter) endSegment() error {
	if err := w.closeBlock(); err != nil {
		return err
	}
	s := &w.segments[len(w.segments)-1]
	if w.stat.Blocks > 0 {
		b := w.out[w.open : w.open+endSize]
		_, _ = binary.Encode(b[headerSize:], binary.LittleEndian, w.stat) // numbers of a fixed size, so this does not fail
		crc := crc32.Checksum(b[headerSize:], castagnoli)
		putHeader(b, header{Length: statSize, Kind: blockEnd, CRC: crc}, w.stat.Blocks)
		w.n = w.open + endSize
		s.Length = w.at + int64(w.n) - s.Offset
		w.beginBlock()
		if err := w.closeBlock(); err != nil {
			return err
		}
	}
	s.segmentStat, w.stat = w.stat, segmentStat{}
	return nil
}

// finish completes the file and returns its size. It does not sync the file to the disk: after a
// crash of the machine the checksums show whether the file is whole, and if not its task runs again.
func (w *runWriter) finish() (size int64, err error) {
	if err := w.endSegment(); err != nil {
		return 0, err
	}
	w.skipTo(w.partitions - 1)
	b := appendIndex(w.out[:w.open:w.open], w.segments, w.at+int64(w.open))
	if _, err := w.file.Write(b); err != nil {
		return 0, ScratchError(w.path, err)
	}
	if err := w.file.Close(); err != nil {
		return 0, ScratchError(w.path, err)
	}
	return w.at + int64(len(b)), nil
}

// abort closes and removes the file.
func (w *runWriter) abort() {
	_ = w.file.Close() // the file is removed
	_ = os.Remove(w.path)
}
