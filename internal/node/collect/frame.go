package collect

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// Stream is one of the two outputs of an attempt.
type Stream int

// The streams, in the order in which a frame contains them.
const (
	Stdout Stream = iota
	Stderr
	streams
)

// A file is a row of frames, one for each attempt that has ended. All numbers are little-endian:
//
//	 0  magic
//	 4  checksum of the rest of the head, and of the offset of the frame in its file
//	 8  task, 12 attempt
//	16  time of writing, nanoseconds since 1970
//	24  bytes of standard output, 32 of standard error
//	40  the two outputs, then their two checksums
//
// A frame that is cut off can only be the last one of its file: the process that wrote it died before the attempt
// ended. Behind a damaged head the next frame is found by its magic. The offset in the checksum prevents that a frame
// is found in what a task printed, which may be such a file. Earlier versions of berth wrote oldMagic, and a checksum
// without the offset.
const (
	magic    = "bou2"
	oldMagic = "bout"
	anyMagic = "bou" // how both begin
	headSize = 40
	tailSize = 4 * int(streams)
)

var table = crc32.MakeTable(crc32.Castagnoli)

// head is the decoded head of a frame from byte 8 on. The fields are exported for package binary.
type head struct {
	Task, Attempt uint32
	At            int64
	Sizes         [streams]int64
}

// size returns the size of the whole frame in bytes.
func (h *head) size() int64 { return headSize + h.Sizes[Stdout] + h.Sizes[Stderr] + int64(tailSize) }

// append adds the encoded head of a frame at an offset to b.
func (h *head) append(b []byte, offset int64) []byte {
	at := len(b)
	b = append(b, magic+"\x00\x00\x00\x00"...)
	b, _ = binary.Append(b, binary.LittleEndian, h) // all fields have a fixed size, so this does not fail
	binary.LittleEndian.PutUint32(b[at+4:], headSum(b[at:], offset))
	return b
}

// headSum returns the checksum of an encoded head.
func headSum(b []byte, offset int64) uint32 {
	sum := crc32.Checksum(b[8:headSize], table)
	if string(b[:4]) == oldMagic {
		return sum
	}
	return crc32.Update(sum, table, binary.LittleEndian.AppendUint64(nil, uint64(offset)))
}

// parseHead decodes the headSize bytes at an offset of a file. ok is false if they are not a valid head.
func parseHead(b []byte, offset int64) (h head, ok bool) {
	known := string(b[:4]) == magic || string(b[:4]) == oldMagic
	if !known || binary.LittleEndian.Uint32(b[4:]) != headSum(b, offset) {
		return h, false
	}
	u32, u64 := binary.LittleEndian.Uint32, func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }
	return head{Task: u32(b[8:]), Attempt: u32(b[12:]), At: u64(16), Sizes: [streams]int64{u64(24), u64(32)}}, true
}

// fits reports whether the whole frame is within that many bytes.
func (h *head) fits(room int64) bool {
	room -= headSize + int64(tailSize)
	for _, size := range h.Sizes {
		if size < 0 || size > room {
			return false
		}
		room -= size
	}
	return room >= 0
}

// findHead returns the offset of the first valid head of a file between two offsets, and to if there is none.
func findHead(file io.ReaderAt, from, to int64) (int64, error) {
	buf := make([]byte, pieceSize)
	for to-from >= headSize {
		b := buf[:min(int64(len(buf)), to-from)]
		if _, err := file.ReadAt(b, from); err != nil {
			return to, err
		}
		for i := 0; len(b)-i >= headSize; i++ {
			next := bytes.Index(b[i:], []byte(anyMagic))
			if next < 0 || len(b)-i-next < headSize {
				break
			}
			i += next
			if _, ok := parseHead(b[i:], from+int64(i)); ok {
				return from + int64(i), nil
			}
		}
		from += int64(len(b)) - headSize + 1 // a head may begin in the last bytes
	}
	return to, nil
}
