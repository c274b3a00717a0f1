package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"berth/internal/core/mpack"
)

const (
	headerSize = 4 + 1 // length of the message and its kind

	// MaxMessage is the largest size of a message, bytes.
	MaxMessage = 64 << 20
)

// ErrTooLarge is wrapped by the error for a message that is larger than MaxMessage. The connection
// can still be used.
var ErrTooLarge = errors.New("message is too large")

// kinds maps message types to the numbers of their kinds.
var kinds = mpack.NewKinds("message", messages)

// AppendFrame appends the message as a frame to buf and returns the extended slice. On an error it
// returns buf unchanged.
func AppendFrame(buf []byte, m Message) ([]byte, error) {
	start := len(buf)
	out, err := kinds.Append(append(buf, 0, 0, 0, 0), m)
	if err != nil {
		return buf, fmt.Errorf("wire: %w", err)
	}
	n := len(out) - start - headerSize
	if n > MaxMessage {
		return buf, fmt.Errorf("wire: %w: %T has %d bytes, and the limit is %d", ErrTooLarge, m, n, MaxMessage)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(n))
	return out, nil
}

// Decode decodes the message in a frame of this kind. It accepts only what AppendFrame writes: an
// unknown kind, an unknown field, a value out of range and trailing bytes are errors. The message
// does not share memory with data.
//
// A Hello of another Version is decoded only up to its version, so that its sender can be told of
// it.
func Decode(kind byte, data []byte) (Message, error) {
	if len(data) > MaxMessage {
		return nil, fmt.Errorf("wire: the message has %d bytes, and the limit is %d", len(data), MaxMessage)
	}
	m, err := kinds.Decode(kind, data)
	if err == nil {
		return m, nil
	}
	if v, ok := foreignVersion(data); ok && kind == kindHello {
		return &Hello{Version: v}, nil
	}
	return nil, fmt.Errorf("wire: %w", err)
}

// foreignVersion reads the version of a Hello, which is the first field in every version, and
// reports whether it differs from Version.
func foreignVersion(data []byte) (version int, ok bool) {
	// The data begins with a map of up to 15 fields, the key "v" and a positive fixint.
	if len(data) < 4 || data[0]&0xf0 != 0x80 || data[1] != 0xa1 || data[2] != 'v' || data[3] > 0x7f {
		return 0, false
	}
	return int(data[3]), data[3] != Version
}
