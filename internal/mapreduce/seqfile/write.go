package seqfile

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Packer opens a compressed stream.
type Packer func(io.Writer) (io.WriteCloser, error)

// Options describes the file that is written.
type Options struct {
	Sync   [syncSize]byte // the bytes of the sync marks; they should not occur in records
	Codec  string         // Java class; empty: nothing is compressed
	Blocks bool           // compress blocks, not each value by itself
	Pack   Packer         // of the codec
}

const (
	// syncInterval is the smallest number of bytes between two sync marks (SequenceFile.SYNC_INTERVAL).
	syncInterval = 100 << 10
	// blockSize is the smallest number of bytes of keys and values in a block (io.seqfile.compress.blocksize).
	blockSize = 1_000_000
)

// Writer writes a SequenceFile whose keys and values are texts.
type Writer struct {
	out    io.Writer
	h      Header
	since  int // bytes written since the last mark
	buf    []byte
	packer packer
	parts  [4][]byte // of a block, plain
	count  int64     // records in it
}

// NewWriter writes the header to out and returns a writer of the records. It writes to out in small pieces.
func NewWriter(out io.Writer, o Options) (*Writer, error) {
	h := Header{Key: TextClass, Value: TextClass, Compressed: o.Codec != "", Blocks: o.Codec != "" && o.Blocks, Codec: o.Codec, Sync: o.Sync}
	w := &Writer{out: out, h: h, packer: packer{open: o.Pack}}
	w.buf = h.append(nil)
	return w, w.flush()
}

// flush writes buf to out.
func (w *Writer) flush() error {
	n, err := w.out.Write(w.buf)
	w.since += n
	w.buf = w.buf[:0]
	return err
}

// Append writes a record.
func (w *Writer) Append(key, value []byte) error {
	if w.h.Blocks {
		return w.appendToBlock(key, value)
	}
	if w.since >= syncInterval {
		w.since = 0
		w.mark()
	}
	at := len(w.buf)
	w.buf = append(w.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	w.buf = appendText(w.buf, key)
	keyLength := len(w.buf) - at - 8
	if w.h.Compressed {
		packed, err := w.packer.all(appendText(nil, value))
		if err != nil {
			return err
		}
		w.buf = append(w.buf, packed...)
	} else {
		w.buf = appendText(w.buf, value)
	}
	binary.BigEndian.PutUint32(w.buf[at:], uint32(len(w.buf)-at-8))
	binary.BigEndian.PutUint32(w.buf[at+4:], uint32(keyLength))
	return w.flush()
}

// mark adds a sync mark to buf.
func (w *Writer) mark() {
	w.buf = append(append(w.buf, 0xff, 0xff, 0xff, 0xff), w.h.Sync[:]...)
}

func (w *Writer) appendToBlock(key, value []byte) error {
	for i, text := range [][]byte{key, value} {
		lengths, texts := &w.parts[2*i], &w.parts[2*i+1]
		before := len(*texts)
		*texts = appendText(*texts, text)
		*lengths = appendVarint(*lengths, int64(len(*texts)-before))
	}
	w.count++
	if len(w.parts[keyBytes])+len(w.parts[valueBytes]) < blockSize {
		return nil
	}
	return w.Close()
}

// Close writes the remaining records. It does not close out.
func (w *Writer) Close() error {
	if w.count == 0 {
		return nil
	}
	w.mark()
	w.buf = appendVarint(w.buf, w.count)
	for i := range w.parts {
		packed, err := w.packer.all(w.parts[i])
		if err != nil {
			return err
		}
		w.buf = append(appendVarint(w.buf, int64(len(packed))), packed...)
		w.parts[i] = w.parts[i][:0]
	}
	w.count = 0
	return w.flush()
}

// packer compresses texts one after the other. It reuses its writer if the writer has a Reset method.
type packer struct {
	open   Packer
	writer io.WriteCloser
	packed bytes.Buffer
}

// all compresses one text. The result is valid until the next call.
func (p *packer) all(plain []byte) ([]byte, error) {
	p.packed.Reset()
	if again, ok := p.writer.(interface{ Reset(w io.Writer) }); ok {
		again.Reset(&p.packed)
	} else {
		var err error
		if p.writer, err = p.open(&p.packed); err != nil {
			return nil, err
		}
	}
	if _, err := p.writer.Write(plain); err != nil {
		return nil, err
	}
	err := p.writer.Close()
	return p.packed.Bytes(), err
}
