package seqfile

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// TextClass is the Java class of a text.
const TextClass = "org.apache.hadoop.io.Text"

// Texter appends the text of a serialised key or value to b.
type Texter func(b, raw []byte) ([]byte, error)

// TextOf returns how the keys or values of a Java class become text: as their toString does. With rawBytes the bytes of a
// BytesWritable are the text.
func TextOf(class string, rawBytes bool) (Texter, error) {
	name := strings.TrimPrefix(class, "org.apache.hadoop.io.")
	switch name {
	case "Text":
		return textOfText, nil
	case "BytesWritable":
		if rawBytes {
			return bytesOf, nil
		}
		return hexOfBytes, nil
	case "NullWritable":
		return func(b, _ []byte) ([]byte, error) { return append(b, "(null)"...), nil }, nil
	case "BooleanWritable":
		return func(b, raw []byte) ([]byte, error) {
			return strconv.AppendBool(b, len(raw) > 0 && raw[0] != 0), wantSize(raw, 1)
		}, nil
	case "VIntWritable", "VLongWritable":
		return func(b, raw []byte) ([]byte, error) {
			n, rest, whole := varint(raw)
			if !whole || len(rest) > 0 {
				return nil, damaged("a number of variable length has %d bytes", len(raw))
			}
			return strconv.AppendInt(b, n, 10), nil
		}, nil
	default:
		if size := numberSizes[name]; size > 0 {
			return number(size), nil
		}
		return nil, fmt.Errorf("its records have keys or values of the Java class %s, which berth cannot convert to text", class)
	}
}

func wantSize(raw []byte, size int) error {
	if len(raw) != size {
		return damaged("a value that should have %d bytes has %d", size, len(raw))
	}
	return nil
}

// numberSizes are the sizes of numbers, in bytes.
var numberSizes = map[string]int{"LongWritable": 8, "IntWritable": 4, "ShortWritable": 2, "ByteWritable": 1}

// number returns the text of a signed number of that many bytes, big-endian.
func number(size int) Texter {
	return func(b, raw []byte) ([]byte, error) {
		if err := wantSize(raw, size); err != nil {
			return nil, err
		}
		n, unused := int64(0), 64-8*size
		for _, c := range raw {
			n = n<<8 | int64(c)
		}
		return strconv.AppendInt(b, n<<unused>>unused, 10), nil
	}
}

func textOfText(b, raw []byte) ([]byte, error) {
	n, text, whole := varint(raw)
	if !whole || n != int64(len(text)) {
		return nil, damaged("a text of length %d has %d bytes", n, len(text))
	}
	return append(b, text...), nil
}

// bytesOf appends the bytes of a BytesWritable: its length in four bytes, then the bytes.
func bytesOf(b, raw []byte) ([]byte, error) {
	if len(raw) < 4 || int64(binary.BigEndian.Uint32(raw)) != int64(len(raw)-4) {
		return nil, damaged("a byte array has a wrong length")
	}
	return append(b, raw[4:]...), nil
}

func hexOfBytes(b, raw []byte) ([]byte, error) {
	plain, err := bytesOf(nil, raw)
	return fmt.Appendf(b, "% x", plain), err
}
