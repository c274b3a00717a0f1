package extsort

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

// Extent is the position of a segment in its file, in bytes. Length is 0 if the partition is empty.
type Extent struct{ Offset, Length int64 }

// appendIndex appends the index and the footer of a file whose segments end at offset at.
func appendIndex(b []byte, segments []segment, at int64) []byte {
	start := len(b)
	for _, s := range segments {
		b, _ = binary.Append(b, binary.LittleEndian, s.Extent) // numbers of a fixed size, so this does not fail
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(segments)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	return append(b, magic...)
}

// parseIndex reads and checks the index of a file of size bytes.
func parseIndex(r io.ReaderAt, size int64) ([]Extent, error) {
	var head [len(magic)]byte
	var foot [footerSize]byte
	if size < int64(len(head)+len(foot)) {
		return nil, damaged("a file of %d bytes", size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if _, err := r.ReadAt(foot[:], size-footerSize); err != nil {
		return nil, err
	}
	if string(head[:]) != magic || string(foot[16:]) != magic {
		return nil, damaged("not a scratch file of this version, or cut off")
	}
	at := int64(binary.LittleEndian.Uint64(foot[:]))
	n := int64(binary.LittleEndian.Uint32(foot[8:]))
	if n > maxPartitions || at != size-footerSize-n*indexEntry || at < int64(len(magic)) {
		return nil, damaged("footer")
	}
	b := make([]byte, n*indexEntry+12)
	if _, err := r.ReadAt(b, at); err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(foot[12:]) {
		return nil, damaged("checksum of the index")
	}
	return parseExtents(b, int(n), at)
}

// parseExtents reads n extents. They must follow each other without gaps up to offset at.
func parseExtents(b []byte, n int, at int64) ([]Extent, error) {
	extents := make([]Extent, n)
	_, _ = binary.Decode(b, binary.LittleEndian, extents) // b is long enough
	next := int64(len(magic))
	for i, e := range extents {
		if e.Offset != next || e.Length < 0 || e.Length > at-next || e.Length > 0 && e.Length < endSize {
			return nil, damaged("index entry %d", i)
		}
		next += e.Length
	}
	if next != at {
		return nil, damaged("the index leaves out the end of the file")
	}
	return extents, nil
}

// ReadIndex reads the index of the file at path.
func ReadIndex(path string) ([]Extent, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return parseIndex(f, info.Size())
}
