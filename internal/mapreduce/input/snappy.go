package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
)

// Hadoop's Snappy files (BlockCompressorStream) consist of blocks. A block is the length of its plain data, then chunks until
// the data is complete. A chunk is its length and its compressed data. Lengths are 4 bytes, big-endian. A block of length 0 ends
// the file. There are no checksums: damage is detected only if a chunk cannot be uncompressed.
const (
	snappyBlock = 128 << 10 // of plain data that is written as one chunk; Hadoop reads chunks up to 256 KiB
	maxSnappy   = 64 << 20  // of a block or a chunk that is read
)

var errSnappy = errors.New("not blocks of Snappy as Hadoop writes them")

type snappyReader struct {
	in    io.Reader
	left  int64  // of the block, plain
	chunk []byte // compressed
	plain []byte
	ready []byte // the part of plain that was not returned
	begun bool
}

func newSnappyReader(r io.Reader) (io.ReadCloser, error) {
	return io.NopCloser(&snappyReader{in: r}), nil
}

func (s *snappyReader) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if err := s.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// more reads the next chunk. It returns io.EOF at the end of the file.
func (s *snappyReader) more() error {
	if s.left == 0 {
		n, err := s.length()
		if err == nil && n == 0 {
			s.in, err = bytes.NewReader(nil), io.EOF // whatever follows
		}
		if err != nil {
			return err
		}
		s.left = n
	}
	n, err := s.length()
	if err != nil {
		return inside(err)
	}
	if int64(cap(s.chunk)) < n {
		s.chunk = make([]byte, n)
	}
	s.chunk = s.chunk[:n]
	if _, err := io.ReadFull(s.in, s.chunk); err != nil {
		return inside(err)
	}
	if plain, err := snappy.DecodedLen(s.chunk); err != nil || int64(plain) > s.left || plain == 0 {
		return errSnappy
	}
	if s.plain, err = snappy.Decode(s.plain[:cap(s.plain)], s.chunk); err != nil {
		return fmt.Errorf("%w: %w", errSnappy, err)
	}
	s.left -= int64(len(s.plain))
	s.ready = s.plain
	return nil
}

// length reads a length. It returns io.EOF if the file has ended.
func (s *snappyReader) length() (int64, error) {
	var b [4]byte
	if _, err := io.ReadFull(s.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) && !s.begun {
			return 0, errSnappy
		}
		return 0, err
	}
	s.begun = true
	n := int64(binary.BigEndian.Uint32(b[:]))
	if n > maxSnappy {
		return 0, errSnappy
	}
	return n, nil
}

// inside turns io.EOF into io.ErrUnexpectedEOF, for an end of the file within the data.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

type snappyWriter struct {
	out   io.Writer
	block []byte
	chunk []byte
	wrote bool
}

func newSnappyWriter(w io.Writer) (io.WriteCloser, error) {
	return &snappyWriter{out: w, block: make([]byte, 0, snappyBlock)}, nil
}

func (s *snappyWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), snappyBlock-len(s.block))
		s.block, rest = append(s.block, rest[:n]...), rest[n:]
		if len(s.block) == snappyBlock {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (s *snappyWriter) flush() error {
	s.wrote = true
	s.chunk = snappy.Encode(s.chunk[:cap(s.chunk)], s.block)
	var head [8]byte
	binary.BigEndian.PutUint32(head[:4], uint32(len(s.block)))
	binary.BigEndian.PutUint32(head[4:], uint32(len(s.chunk)))
	s.block = s.block[:0]
	if _, err := s.out.Write(head[:]); err != nil {
		return err
	}
	_, err := s.out.Write(s.chunk)
	return err
}

// Close writes the remaining data. A file without data is one empty block, as in Hadoop.
func (s *snappyWriter) Close() error {
	if len(s.block) > 0 {
		return s.flush()
	}
	if s.wrote {
		return nil
	}
	_, err := s.out.Write(make([]byte, 4))
	return err
}
