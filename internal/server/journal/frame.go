package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"berth/internal/core/event"
)

const (
	magic   = "berthlog"
	version = 1

	fileHeaderSize  = len(magic) + 4 + 4
	frameHeaderSize = 4 + 4 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileHeader returns the first bytes of a journal of that version.
func fileHeader(version uint32) []byte {
	h := append(make([]byte, 0, fileHeaderSize), magic...)
	h = binary.LittleEndian.AppendUint32(h, version)
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// checkFileHeader checks the first bytes of a file. It returns torn if a crash interrupted
// the creation of the file.
func checkFileHeader(h []byte) (torn bool, err error) {
	want := fileHeader(version)
	if bytes.Equal(h, want) {
		return false, nil
	}
	// A crash of the machine may leave bytes that were never written as zeros.
	if len(h) < fileHeaderSize && bytes.HasPrefix(want, h) || bytes.Count(h, []byte{0}) == len(h) {
		return true, nil
	}
	if len(h) == fileHeaderSize && bytes.HasPrefix(h, []byte(magic)) {
		v := binary.LittleEndian.Uint32(h[len(magic):])
		if bytes.Equal(h, fileHeader(v)) {
			return false, fmt.Errorf("journal has format %d, this berth reads format %d", v, version)
		}
		return false, fmt.Errorf("the journal's header is damaged at byte 0")
	}
	return false, fmt.Errorf("not a journal of berth")
}

// frameHeader is the decoded header of a frame.
type frameHeader struct {
	length int    // of the payload, in bytes
	sum    uint32 // of the payload
}

// appendFrame appends the entry to buf as a frame. offset is where the frame will be in its file.
func appendFrame(buf []byte, offset int64, e event.Entry) ([]byte, error) {
	start := len(buf)
	var room [frameHeaderSize]byte
	out, err := event.MarshalTo(append(buf, room[:]...), e)
	if err != nil {
		return buf, err
	}
	b, payload := out[start:], out[start+frameHeaderSize:]
	binary.LittleEndian.PutUint32(b, uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(b[8:], headerSum(b, offset))
	return out, nil
}

// headerSum returns the checksum of the offset and of the first two fields in b.
func headerSum(b []byte, offset int64) uint32 {
	var at [8]byte
	binary.LittleEndian.PutUint64(at[:], uint64(offset))
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, b[:8])
}

// parseFrameHeader reads the header at the start of b, which is at offset in a file of
// this size. It returns false if there is no header, or if the payload would end behind
// the end of the file.
func parseFrameHeader(b []byte, offset, size int64) (frameHeader, bool) {
	length := binary.LittleEndian.Uint32(b)
	if length == 0 || length > event.MaxSize || int64(length) > size-offset-int64(frameHeaderSize) {
		return frameHeader{}, false
	}
	if binary.LittleEndian.Uint32(b[8:]) != headerSum(b, offset) {
		return frameHeader{}, false
	}
	return frameHeader{int(length), binary.LittleEndian.Uint32(b[4:])}, true
}
