package seqfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrFormat is wrapped by the errors about a file that is not a SequenceFile, or is damaged.
var ErrFormat = errors.New("not a valid SequenceFile")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

const (
	magic    = "SEQ"
	version  = 6
	syncSize = 16
	escape   = -1
	// markSize is the size of a sync mark: the escape and the sync bytes.
	markSize = 4 + syncSize
)

// Header is the header of a SequenceFile.
type Header struct {
	Key, Value string // Java classes
	Compressed bool   // the values are compressed
	Blocks     bool   // records are compressed in blocks
	Codec      string // Java class; empty: nothing is compressed
	Sync       [syncSize]byte
	Size       int64 // bytes of the header
}

// headerLimit is the largest size of a header, in bytes. The metadata of a user can be long.
const headerLimit = 16 << 20

// ReadHeader reads the header at the beginning of a file.
func ReadHeader(in io.Reader) (Header, error) {
	counted := &counter{in: io.LimitReader(in, headerLimit)}
	r := headerReader{in: bufio.NewReader(counted)}
	var h Header
	head := r.bytes(len(magic) + 1)
	switch {
	case r.err != nil || string(head[:len(magic)]) != magic:
		return h, damaged("it does not begin with SEQ")
	case head[len(magic)] != version:
		return h, damaged("it has version %d, and berth reads only version %d", head[len(magic)], version)
	}
	h.Key, h.Value = r.text(), r.text()
	h.Compressed, h.Blocks = r.bool(), r.bool()
	if h.Compressed {
		h.Codec = r.text()
	}
	for range r.pairs() {
		r.text()
		r.text()
		if r.err != nil {
			break
		}
	}
	copy(h.Sync[:], r.bytes(syncSize))
	if r.err != nil {
		return h, fmt.Errorf("%w: its header: %w", ErrFormat, r.err)
	}
	h.Size = counted.n - int64(r.in.Buffered())
	return h, nil
}

type counter struct {
	in io.Reader
	n  int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += int64(n)
	return n, err
}

// headerReader reads the parts of a header. After the first error it reads nothing.
type headerReader struct {
	in  *bufio.Reader
	err error
}

func (r *headerReader) bytes(n int) []byte {
	var b []byte
	if r.err == nil {
		b, r.err = readBytes(r.in, nil, n)
	}
	if r.err != nil {
		return make([]byte, syncSize) // as many as any part of fixed size has
	}
	return b
}

func (r *headerReader) text() string {
	if r.err != nil {
		return ""
	}
	n, _, err := readVarint(r.in)
	if r.err = err; err == nil && (n < 0 || n > headerLimit) {
		r.err = fmt.Errorf("a text of %d bytes", n)
	}
	return string(r.bytes(int(n)))
}

func (r *headerReader) bool() bool { return r.bytes(1)[0] != 0 }

// pairs returns the number of pairs of the metadata.
func (r *headerReader) pairs() int {
	n := int32(binary.BigEndian.Uint32(r.bytes(4)))
	if r.err == nil && n < 0 {
		r.err = fmt.Errorf("%d pairs of metadata", n)
	}
	return int(max(n, 0))
}

// append appends the header in the format of the file, without metadata.
func (h *Header) append(b []byte) []byte {
	b = append(append(b, magic...), version)
	b = appendText(appendText(b, h.Key), h.Value)
	b = append(b, flag(h.Compressed), flag(h.Blocks))
	if h.Compressed {
		b = appendText(b, h.Codec)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	return append(b, h.Sync[:]...)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// appendText appends a text as Hadoop's Text is serialised: its length and its bytes.
func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(appendVarint(b, int64(len(text))), text...)
}
