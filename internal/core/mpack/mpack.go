// Package mpack encodes and decodes MessagePack for journals and the wire. It uses
// compact numbers, reuses encoders and decoders, and checks input before decoding it.
//
//	data, err := mpack.Append(nil, record)
//	err = mpack.Decode(data, &record)
//
// The msgpack library trusts the lengths that it reads: it allocates an array that claims
// four billion elements at once, and nested values that it skips may exhaust the stack. So
// Decode calls Check first. Only input that is well formed, complete and not deeply nested
// reaches the library.
//
// The package is part of the pure core: it reads no clock, file or network.
package mpack

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// sink is a byte slice that an encoder appends to.
type sink struct{ buf []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}

func (s *sink) WriteByte(c byte) error {
	s.buf = append(s.buf, c)
	return nil
}

// encoder is an encoder and the sink that it writes to. Both are pooled together, so that
// encoding a small value allocates no memory.
type encoder struct {
	out sink
	enc *msgpack.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.enc = msgpack.NewEncoder(&e.out)
	e.enc.UseCompactInts(true)
	return e
}}

// Append appends the encoding of v to buf and returns the extended slice. If it fails, it
// returns buf unchanged.
func Append(buf []byte, v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.out.buf = buf
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() { // a field that has an address is copied to the heap to see whether it is empty
		v = p.Elem().Interface()
	}
	err := e.enc.Encode(v)
	out := e.out.buf
	e.out.buf = nil
	encoders.Put(e)
	if err != nil {
		return buf, fmt.Errorf("encode %T: %w", v, err)
	}
	return out, nil
}

// decoder is a decoder and the reader that it reads from.
type decoder struct {
	in  bytes.Reader
	dec *msgpack.Decoder
}

var decoders = sync.Pool{New: func() any {
	d := &decoder{}
	d.dec = msgpack.NewDecoder(&d.in)
	d.dec.DisallowUnknownFields(true)
	return d
}}

// Decode decodes data, which must be exactly one map, into the struct that v points to. A
// field that the struct does not have is an error, as nobody may act upon a message or record
// that this version understands only in part. The decoded value shares no memory with data.
func Decode(data []byte, v any) error {
	if err := CheckMap(data); err != nil {
		return err
	}
	d := decoders.Get().(*decoder)
	d.in.Reset(data)
	err := d.dec.Decode(v)
	d.in.Reset(nil)
	// A decoder keeps the buffer of the longest string that it has read. A large one is left
	// to the garbage collector.
	if len(data) <= 1<<16 {
		decoders.Put(d)
	}
	if err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
