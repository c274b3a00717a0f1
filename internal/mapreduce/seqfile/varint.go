package seqfile

import (
	"bufio"
	"errors"
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

var errShort = errors.New("a number is cut off")

// varint reads a number at the beginning of b and returns the rest of b.
func varint(b []byte) (n int64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errShort
	}
	size, negative := varintSize(b[0])
	if size == 0 {
		return int64(int8(b[0])), b[1:], nil
	}
	if len(b) <= size {
		return 0, nil, errShort
	}
	for _, c := range b[1 : size+1] {
		n = n<<8 | int64(c)
	}
	if negative {
		n = ^n
	}
	return n, b[size+1:], nil
}

// readVarint reads a number. size is the number of its bytes.
func readVarint(in *bufio.Reader) (n int64, size int, err error) {
	first, err := in.Peek(1)
	if err != nil {
		return 0, 0, noEOF(err)
	}
	size, _ = varintSize(first[0])
	b, err := in.Peek(size + 1)
	if err != nil {
		return 0, 0, noEOF(err)
	}
	n, _, err = varint(b)
	if err == nil {
		_, err = in.Discard(size + 1)
	}
	return n, size + 1, err
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF, for an end of the file within the data.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readBytes appends n bytes to b. It allocates memory only as bytes arrive, as a damaged length can be large.
func readBytes(in io.Reader, b []byte, n int) ([]byte, error) {
	const step = 1 << 20
	for n > 0 {
		m := min(n, step)
		b = append(b, make([]byte, m)...)
		if _, err := io.ReadFull(in, b[len(b)-m:]); err != nil {
			return b, noEOF(err)
		}
		n -= m
	}
	return b, nil
}
