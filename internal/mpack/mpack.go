// Package mpack is MessagePack as berth writes and reads it: compact numbers,
// encoders and decoders that are used again, and input that is judged before it is
// decoded.
//
// The msgpack library believes the lengths it reads: an array that claims four
// billion elements is allocated at once, and nested values that are skipped may
// exhaust the stack. So Decode first walks over the bytes (Check); only what is
// well formed, complete and shallow reaches the library.
//
// The package belongs to the pure core: it reads no clock, file or network.
package mpack

import (
	"bytes"
	"fmt"
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

// encoder is an encoder with the sink it writes to, pooled together so that
// encoding a small value allocates nothing of its own.
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

// Append appends the encoding of v to buf and returns the extended slice. On an
// error buf is returned as it was.
func Append(buf []byte, v any) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.out.buf = buf
	err := e.enc.Encode(v)
	out := e.out.buf
	e.out.buf = nil
	encoders.Put(e)
	if err != nil {
		return buf, fmt.Errorf("encode %T: %w", v, err)
	}
	return out, nil
}

// decoder is a decoder with the reader it reads from.
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

// Decode decodes data, which must be one map and nothing else, into the struct v
// points to. A field that v does not have is an error: a message or record whose
// meaning is only half understood must not be acted upon. What is decoded does not
// share memory with data.
func Decode(data []byte, v any) error {
	if err := CheckMap(data); err != nil {
		return err
	}
	d := decoders.Get().(*decoder)
	d.in.Reset(data)
	err := d.dec.Decode(v)
	d.in.Reset(nil)
	// A decoder keeps the buffer of the longest string it has read; one that grew
	// large is left to the collector.
	if len(data) <= 1<<16 {
		decoders.Put(d)
	}
	if err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
