package collect

import (
	"encoding/binary"
	"hash/crc32"

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
//	 4  checksum of the rest of the head
//	 8  task, 12 attempt
//	16  time of writing, nanoseconds since 1970
//	24  bytes of standard output, 32 of standard error
//	40  the two outputs, then their two checksums
//
// A frame that is cut off can only be the last one of its file: the process that wrote it died before the attempt
// ended.
const (
	magic    = "bout"
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

// append adds the encoded head to b.
func (h *head) append(b []byte) []byte {
	at := len(b)
	b = append(b, magic+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint32(b, h.task)
	b = binary.LittleEndian.AppendUint32(b, h.attempt)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.sizes[Stdout]))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.sizes[Stderr]))
	binary.LittleEndian.PutUint32(b[at+4:], crc32.Checksum(b[at+8:], table))
	return b
}

// parseHead decodes a head of headSize bytes. ok is false if b is not a valid head, or if its frame is longer than room
// bytes.
func parseHead(b []byte, room int64) (h head, ok bool) {
	if string(b[:4]) != magic || binary.LittleEndian.Uint32(b[4:]) != crc32.Checksum(b[8:headSize], table) {
		return h, false
	}
	h = head{task: binary.LittleEndian.Uint32(b[8:]), attempt: binary.LittleEndian.Uint32(b[12:]), at: int64(binary.LittleEndian.Uint64(b[16:]))}
	left := room - headSize - int64(tailSize)
	for s := range h.sizes {
		h.sizes[s] = int64(binary.LittleEndian.Uint64(b[24+8*s:]))
		if h.sizes[s] < 0 || h.sizes[s] > left {
			return h, false
		}
		left -= h.sizes[s]
	}
	return h, true
}
