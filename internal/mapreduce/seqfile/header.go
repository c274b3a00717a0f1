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
	s := &stream{Reader: bufio.NewReader(io.LimitReader(in, headerLimit))}
	var h Header
	head := s.bytes(nil, len(magic)+1)
	switch {
	case s.err != nil || string(head[:len(magic)]) != magic:
		return h, damaged("it does not begin with SEQ")
	case head[len(magic)] != version:
		return h, damaged("it has version %d, and berth reads only version %d", head[len(magic)], version)
	}
	h.Key, h.Value = s.text(), s.text()
	h.Compressed, h.Blocks = s.bool(), s.bool()
	if h.Compressed {
		h.Codec = s.text()
	}
	pairs := s.int32()
	if pairs < 0 {
		s.err = fmt.Errorf("%d pairs of metadata", pairs)
	}
	for n := 0; n < pairs && s.err == nil; n++ {
		s.text()
		s.text()
	}
	copy(h.Sync[:], s.bytes(nil, syncSize))
	if s.err != nil {
		return h, fmt.Errorf("%w: its header: %w", ErrFormat, s.err)
	}
	h.Size = s.at
	return h, nil
}

func (s *stream) text() string {
	n := s.varint()
	if s.err == nil && (n < 0 || n > headerLimit) {
		s.err = fmt.Errorf("a text of %d bytes", n)
	}
	return string(s.bytes(nil, int(n)))
}

func (s *stream) bool() bool {
	set := s.peek(1)[0] != 0
	s.skip(1)
	return set
}

// append appends the header in the format of the file, without metadata.
func (h *Header) append(b []byte) []byte {
	b = append(append(b, magic...), version)
	b = appendText(appendText(b, h.Key), h.Value)
	b, _ = binary.Append(b, binary.BigEndian, []bool{h.Compressed, h.Blocks}) // a byte each, so this does not fail
	if h.Compressed {
		b = appendText(b, h.Codec)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	return append(b, h.Sync[:]...)
}

// appendText appends a text as Hadoop's Text is serialised: its length and its bytes.
func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(appendVarint(b, int64(len(text))), text...)
}
