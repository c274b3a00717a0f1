package seqfile

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

const (
	// TextClass is the Java class of a text.
	TextClass  = "org.apache.hadoop.io.Text"
	bytesClass = "org.apache.hadoop.io.BytesWritable"
)

// Texter appends the text of a serialised key or value to b.
type Texter func(b, raw []byte) ([]byte, error)

// TextOf returns how the keys or values of a Java class become text: as their toString does. With rawBytes the bytes of a
// BytesWritable are the text.
func TextOf(class string, rawBytes bool) (Texter, error) {
	switch strings.TrimPrefix(class, "org.apache.hadoop.io.") {
	case "Text":
		return textOfText, nil
	case "BytesWritable":
		if rawBytes {
			return bytesOf, nil
		}
		return hexOfBytes, nil
	case "NullWritable":
		return func(b, _ []byte) ([]byte, error) { return append(b, "(null)"...), nil }, nil
	case "LongWritable":
		return number(8, func(raw []byte) int64 { return int64(binary.BigEndian.Uint64(raw)) }), nil
	case "IntWritable":
		return number(4, func(raw []byte) int64 { return int64(int32(binary.BigEndian.Uint32(raw))) }), nil
	case "ShortWritable":
		return number(2, func(raw []byte) int64 { return int64(int16(binary.BigEndian.Uint16(raw))) }), nil
	case "ByteWritable":
		return number(1, func(raw []byte) int64 { return int64(int8(raw[0])) }), nil
	case "BooleanWritable":
		return func(b, raw []byte) ([]byte, error) {
			return strconv.AppendBool(b, len(raw) > 0 && raw[0] != 0), wantSize(raw, 1)
		}, nil
	case "VIntWritable", "VLongWritable":
		return func(b, raw []byte) ([]byte, error) {
			n, rest, err := varint(raw)
			if err != nil || len(rest) > 0 {
				return nil, damaged("a number of variable length has %d bytes", len(raw))
			}
			return strconv.AppendInt(b, n, 10), nil
		}, nil
	default:
		return nil, fmt.Errorf("its records have keys or values of the Java class %s, which berth cannot convert to text", class)
	}
}

func wantSize(raw []byte, size int) error {
	if len(raw) != size {
		return damaged("a value that should have %d bytes has %d", size, len(raw))
	}
	return nil
}

func number(size int, value func([]byte) int64) Texter {
	return func(b, raw []byte) ([]byte, error) {
		if err := wantSize(raw, size); err != nil {
			return nil, err
		}
		return strconv.AppendInt(b, value(raw), 10), nil
	}
}

func textOfText(b, raw []byte) ([]byte, error) {
	n, text, err := varint(raw)
	if err != nil || n != int64(len(text)) {
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
	for i := range plain {
		if i > 0 {
			b = append(b, ' ')
		}
		b = hex.AppendEncode(b, plain[i:i+1])
	}
	return b, err
}
