package transfer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"berth/internal/mapreduce/input"
)

// A part of an input file goes in blocks: four bytes with the length of the data, four with its CRC-32C, the data. So what was damaged on the way is found
// before a map has seen it, and only that block has to be sent again.
const (
	blockSize  = input.BlockSize
	blockFront = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is that a block is not what was sent.
var errDamaged = errors.New("a block arrived damaged")

// writeBlocks writes n bytes from an offset on. A file that ends before that is an error.
func writeBlocks(w io.Writer, file io.ReaderAt, at, n int64) error {
	buf := make([]byte, blockFront+blockSize)
	for end := at + n; at < end; {
		data := buf[blockFront:][:min(blockSize, end-at)]
		if m, err := file.ReadAt(data, at); m < len(data) {
			return err
		}
		binary.BigEndian.PutUint32(buf, uint32(len(data)))
		binary.BigEndian.PutUint32(buf[4:], crc32.Checksum(data, castagnoli))
		if _, err := w.Write(buf[:blockFront+len(data)]); err != nil {
			return err
		}
		at += int64(len(data))
	}
	return nil
}

// readBlock reads the next block into buf, which has room for one, and returns its data; io.EOF where there is none any more.
func readBlock(r io.Reader, buf []byte) ([]byte, error) {
	var front [blockFront]byte
	if _, err := io.ReadFull(r, front[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(front[:])
	if n == 0 || n > blockSize {
		return nil, fmt.Errorf("%w: its length is %d", errDamaged, n)
	}
	data := buf[:n]
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	if crc32.Checksum(data, castagnoli) != binary.BigEndian.Uint32(front[4:]) {
		return nil, errDamaged
	}
	return data, nil
}
