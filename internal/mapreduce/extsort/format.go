package extsort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Map outputs, spills and the files of a merge all have this format:
//
//	file    = magic segment… index footer
//	segment = nothing, if the partition is empty, else block… end
//	block   = header payload
//	record  = uvarint(keyLen<<1 | repeated) uvarint(restLen) key rest '\n' [uvarint(count)]
//
// A segment contains the records of one partition in order. A block contains whole records. Its
// payload is compressed with S2, or stored if S2 does not make it smaller. A record that repeats is
// written once, with the count behind it. A header is
//
//	payload length u32, raw length u32, kind u8, 0 u8×3, CRC of the payload u32, CRC u32
//
// in little-endian order. The last CRC covers the bytes of the header before it and the number of
// the block in its segment, so that a block in a wrong place is detected. The payload of the end
// block is a segmentStat. The index has offset u64 and length u64 of every segment. The footer is
//
//	offset of the index u64, partitions u32, CRC of index and footer u32, magic
//
// CRC is CRC-32C (Castagnoli; RFC 3720, appendix B.4).
const (
	magic      = "berthMR\x01"
	headerSize = 20
	endSize    = headerSize + statSize
	statSize   = 28
	indexEntry = 16
	footerSize = 24
)

// Kinds of blocks.
const (
	blockStored = iota
	blockS2
	blockEnd
)

// The size of blocks before compression, in bytes. It is large enough for the compressor to find
// repeats, and small enough that hundreds of blocks can be merged at once.
const (
	maxBlock = 128 << 10
	minBlock = 1 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is wrapped by every error about damaged data.
var ErrDamaged = errors.New("damaged data")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// header is a block header without its own CRC. The fields are exported for package binary.
type header struct {
	Length, Raw uint32 // bytes of the payload as it is stored, and unpacked
	Kind        byte
	_           [3]byte
	CRC         uint32 // of the payload
}

func putHeader(b []byte, h header, number uint32) {
	_, _ = binary.Encode(b, binary.LittleEndian, h) // all callers have headerSize bytes
	binary.LittleEndian.PutUint32(b[16:], headerCRC(b, number))
}

func headerCRC(b []byte, number uint32) uint32 {
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], number)
	return crc32.Update(crc32.Checksum(b[:16], castagnoli), castagnoli, n[:])
}

// parseHeader reads and checks the header of the block with this number.
func parseHeader(b []byte, number uint32) (h header, err error) {
	if binary.LittleEndian.Uint32(b[16:]) != headerCRC(b, number) {
		return h, damaged("checksum of the header of block %d", number)
	}
	_, _ = binary.Decode(b, binary.LittleEndian, &h) // all callers have headerSize bytes
	switch {
	case h.Kind > blockEnd,
		h.Kind == blockEnd && h.Length != statSize,
		h.Kind == blockStored && h.Length != h.Raw,
		h.Kind == blockS2 && h.Length >= h.Raw:
		return h, damaged("header of block %d", number)
	}
	return h, nil
}

// checkPayload compares a payload with its checksum.
func (h *header) checkPayload(payload []byte, number uint32) error {
	if crc32.Checksum(payload, castagnoli) != h.CRC {
		return damaged("checksum of block %d", number)
	}
	return nil
}

// segmentStat is the summary of a segment that is written in its end block. The fields are exported for package binary.
type segmentStat struct {
	Records int64 // with each repeat counted
	Bytes   int64 // of the records' lines with their newlines, with each repeat counted
	MaxRaw  int64 // bytes of the largest block, unpacked
	Blocks  uint32
}

func parseStat(b []byte) (s segmentStat) {
	_, _ = binary.Decode(b, binary.LittleEndian, &s) // all callers have statSize bytes
	return s
}

// parseEnd reads and checks a whole end block.
func parseEnd(b []byte) (segmentStat, error) {
	s := parseStat(b[headerSize:])
	h, err := parseHeader(b, s.Blocks)
	if err != nil {
		return s, err
	}
	if h.Kind != blockEnd || s.MaxRaw < 0 || s.MaxRaw > maxLine+maxVarints {
		return s, damaged("a segment without an end")
	}
	return s, h.checkPayload(b[headerSize:endSize], s.Blocks)
}

// blockSize returns the size of blocks for an attempt that may use memory bytes.
func blockSize(memory int64) int { return int(min(max(memory/64, minBlock), maxBlock)) }
