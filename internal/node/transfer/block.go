package transfer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"berth/internal/mapreduce/input"
)

// A part of an input file is sent in blocks: four bytes with the length of the data, four bytes with its CRC-32C, the
// data. So damaged data is detected before a map reads it, and only the damaged block is sent again.
const (
	blockSize  = input.BlockSize
	blockFront = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged means that a block differs from what was sent.
var errDamaged = errors.New("a block arrived damaged")

// writeBlocks writes n bytes of the file, from the offset at on, as blocks. It returns an error if the file is shorter.
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

// readBlock reads the next block into buf, which holds at least one block, and returns its data. After the last block
// it returns io.EOF.
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
