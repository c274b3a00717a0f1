package extsort

import (
	"hash/crc32"
	"io"
)

// CopySegment copies a segment of length bytes from r to w, which writes at offset of the file at
// path. It returns the segment of that file. It checks every block and stops at the first damage. It
// copies through buf, which must be at least as long as a block header.
func CopySegment(w io.Writer, r io.Reader, path string, offset, length int64, buf []byte) (*File, error) {
	e := Extent{offset, length}
	for number := uint32(0); ; number++ {
		head := buf[:headerSize]
		if length < headerSize {
			return nil, damaged("a segment without an end")
		}
		if _, err := io.ReadFull(r, head); err != nil {
			return nil, err
		}
		h, err := parseHeader(head, number)
		if err != nil {
			return nil, err
		}
		if length -= headerSize + int64(h.Length); length < 0 {
			return nil, damaged("block %d reaches beyond its segment", number)
		}
		if _, err := w.Write(head); err != nil {
			return nil, err
		}
		last, err := verifyPayload(w, r, h, number, buf)
		if err != nil {
			return nil, err
		}
		if h.Kind != blockEnd {
			continue
		}
		s := parseStat(last)
		if length != 0 || s.Blocks != number {
			return nil, damaged("a segment ends after %d of %d blocks", number, s.Blocks)
		}
		return newSegment(path, e, s), nil
	}
}

// verifyPayload copies a payload in pieces of at most len(buf), checks it, and returns the last piece.
func verifyPayload(w io.Writer, r io.Reader, h header, number uint32, buf []byte) ([]byte, error) {
	var crc uint32
	var piece []byte
	for left := int(h.Length); left > 0; left -= len(piece) {
		piece = buf[:min(left, len(buf))]
		if _, err := io.ReadFull(r, piece); err != nil {
			return nil, err
		}
		crc = crc32.Update(crc, castagnoli, piece)
		if _, err := w.Write(piece); err != nil {
			return nil, err
		}
	}
	if crc != h.CRC {
		return nil, damaged("checksum of block %d", number)
	}
	return piece, nil
}
