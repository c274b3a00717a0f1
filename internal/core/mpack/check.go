package mpack

import (
	"errors"
	"fmt"
)

// maxDepth is the deepest nesting of values that is accepted; berth itself writes five levels.
const maxDepth = 32

// Errors of Check and CheckMap.
var (
	ErrTruncated = errors.New("messagepack: value ends early")
	ErrTrailing  = errors.New("messagepack: bytes after the value")
	ErrDepth     = errors.New("messagepack: values nest too deep")
	ErrNotMap    = errors.New("messagepack: not a map")
)

// CheckMap returns an error unless data is exactly one well-formed map (see Check).
func CheckMap(data []byte) error {
	if len(data) == 0 {
		return ErrTruncated
	}
	if c := data[0]; c&0xf0 != 0x80 && c != 0xde && c != 0xdf {
		return ErrNotMap
	}
	return Check(data)
}

// Check returns an error unless data is exactly one well-formed MessagePack value: no length
// exceeds the bytes that follow, the nesting is bounded, and nothing comes after the value.
// Extension types are refused, as berth does not use them.
// Source: the MessagePack specification, github.com/msgpack/msgpack/blob/master/spec.md.
func Check(data []byte) error {
	var open [maxDepth]uint64 // values still to come at each level
	depth := 0
	open[0] = 1
	at := 0
	for {
		for open[depth] == 0 {
			if depth == 0 {
				if at != len(data) {
					return ErrTrailing
				}
				return nil
			}
			depth--
		}
		open[depth]--
		size, children, err := head(data[at:])
		if err != nil {
			return err
		}
		if size > uint64(len(data)-at) {
			return ErrTruncated
		}
		at += int(size)
		if children > 0 {
			if depth++; depth == maxDepth {
				return ErrDepth
			}
			open[depth] = children
		}
	}
}

// head reads the first bytes of a value. It returns the size of the value in bytes without
// its children, and the number of children that follow.
func head(b []byte) (size, children uint64, err error) {
	if len(b) == 0 {
		return 0, 0, ErrTruncated
	}
	switch c := b[0]; {
	case c <= 0x7f || c >= 0xe0: // fixint
		return 1, 0, nil
	case c <= 0x8f: // fixmap
		return 1, 2 * uint64(c&0x0f), nil
	case c <= 0x9f: // fixarray
		return 1, uint64(c & 0x0f), nil
	case c <= 0xbf: // fixstr
		return 1 + uint64(c&0x1f), 0, nil
	default:
		return longHead(b)
	}
}

// scalarSize contains the sizes in bytes of nil, booleans and numbers. The index is the first byte minus 0xc0.
var scalarSize = [32]uint8{
	0x00: 1, 0x02: 1, 0x03: 1, // nil, false, true
	0x0a: 5, 0x0b: 9, // float
	0x0c: 2, 0x0d: 3, 0x0e: 5, 0x0f: 9, // uint
	0x10: 2, 0x11: 3, 0x12: 5, 0x13: 9, // int
}

// longHead is head for values whose first byte is 0xc0 to 0xdf.
func longHead(b []byte) (size, children uint64, err error) {
	c := b[0]
	if n := scalarSize[c-0xc0]; n > 0 {
		return uint64(n), 0, nil
	}
	width, each := 0, uint64(0) // bytes of the length, and values for each that it counts; 0: it counts bytes
	switch c {
	case 0xc4, 0xc5, 0xc6: // bin
		width = 1 << (c - 0xc4)
	case 0xd9, 0xda, 0xdb: // str
		width = 1 << (c - 0xd9)
	case 0xdc, 0xdd: // array
		width, each = 2<<(c-0xdc), 1
	case 0xde, 0xdf: // map
		width, each = 2<<(c-0xde), 2
	default:
		return 0, 0, fmt.Errorf("messagepack: type 0x%02x is not used", c)
	}
	size = uint64(1 + width)
	if len(b) < int(size) {
		return 0, 0, ErrTruncated
	}
	length := uint64(0)
	for _, digit := range b[1:size] { // big-endian
		length = length<<8 | uint64(digit)
	}
	if each > 0 {
		return size, length * each, nil
	}
	return size + length, 0, nil
}
