package collect

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"berth/internal/core/job"
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

// head is the decoded head of a frame.
type head struct {
	task, attempt uint32
	at            int64
	sizes         [streams]int64
}

func headOf(at job.Attempt, now int64) head {
	return head{task: uint32(at.Task), attempt: uint32(at.N), at: now}
}

// size returns the size of the whole frame in bytes.
func (h *head) size() int64 { return headSize + h.sizes[Stdout] + h.sizes[Stderr] + int64(tailSize) }

// append adds the encoded head of a frame at an offset to b.
func (h *head) append(b []byte, offset int64) []byte {
	at := len(b)
	b = append(b, magic+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint32(b, h.task)
	b = binary.LittleEndian.AppendUint32(b, h.attempt)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.sizes[Stdout]))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.sizes[Stderr]))
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
	h = head{task: binary.LittleEndian.Uint32(b[8:]), attempt: binary.LittleEndian.Uint32(b[12:]), at: int64(binary.LittleEndian.Uint64(b[16:]))}
	for s := range h.sizes {
		h.sizes[s] = int64(binary.LittleEndian.Uint64(b[24+8*s:]))
	}
	return h, true
}

// fits reports whether the whole frame is within that many bytes.
func (h *head) fits(room int64) bool {
	room -= headSize + int64(tailSize)
	for _, size := range h.sizes {
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
