package seqfile

import (
	"bufio"
	"encoding/binary"
	"io"
)

// appendVarint appends a number as Hadoop's WritableUtils.writeVLong does. A number from -112 to 127 is one byte. Of other
// numbers the first byte contains the sign and the number of bytes that follow, big-endian.
func appendVarint(b []byte, n int64) []byte {
	if n >= -112 && n <= 127 {
		return append(b, byte(n))
	}
	first := -112
	if n < 0 {
		n, first = ^n, -120
	}
	size := 0
	for rest := n; rest != 0; rest >>= 8 {
		size++
	}
	b = append(b, byte(first-size))
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

// varintSize returns how many bytes follow the first one of a number, and whether the number is negative.
func varintSize(first byte) (size int, negative bool) {
	switch b := int8(first); {
	case b >= -112:
		return 0, false
	case b >= -120:
		return int(-112 - int(b)), false
	default:
		return int(-120 - int(b)), true
	}
}

// varint reads a number at the beginning of b and returns the rest of b. whole is false if the number is cut off.
func varint(b []byte) (n int64, rest []byte, whole bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	size, negative := varintSize(b[0])
	if size == 0 {
		return int64(int8(b[0])), b[1:], true
	}
	if len(b) <= size {
		return 0, nil, false
	}
	for _, c := range b[1 : size+1] {
		n = n<<8 | int64(c)
	}
	if negative {
		n = ^n
	}
	return n, b[size+1:], true
}

// stream reads the parts of a file. After the first error it reads nothing, and returns zeros.
type stream struct {
	*bufio.Reader
	at  int64 // offset of the next part
	err error // io.ErrUnexpectedEOF: the file ends within a part
}

// peek returns the next n bytes without reading them.
func (s *stream) peek(n int) (b []byte) {
	if s.err == nil {
		if b, s.err = s.Peek(n); s.err == io.EOF {
			s.err = io.ErrUnexpectedEOF
		}
	}
	if s.err != nil {
		return make([]byte, n)
	}
	return b
}

// skip skips n bytes.
func (s *stream) skip(n int) {
	if s.err == nil {
		n, s.err = s.Discard(n)
		s.at += int64(n)
	}
}

func (s *stream) int32() int {
	n := int(int32(binary.BigEndian.Uint32(s.peek(4))))
	s.skip(4)
	return n
}

func (s *stream) varint() int64 {
	size, _ := varintSize(s.peek(1)[0])
	n, _, _ := varint(s.peek(size + 1)) // there are as many bytes
	s.skip(size + 1)
	return n
}

// bytes appends n bytes to b. It allocates memory only as bytes arrive, as a damaged length can be large.
func (s *stream) bytes(b []byte, n int) []byte {
	const step = 1 << 20
	for left := n; left > 0 && s.err == nil; {
		m := min(left, step)
		b = append(b, make([]byte, m)...)
		if _, s.err = io.ReadFull(s.Reader, b[len(b)-m:]); s.err == io.EOF {
			s.err = io.ErrUnexpectedEOF
		}
		left -= m
	}
	if s.err == nil {
		s.at += int64(n)
	}
	return b
}
