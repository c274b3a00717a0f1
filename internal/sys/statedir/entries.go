package statedir

import (
	"bytes"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5"

	"berth/internal/core/job"
)

// entriesInBlock is the number of entries of which only the first one's place is known. So the place of an entry takes a byte, and
// three or four others must be skipped to find it.
const entriesInBlock = 8

// packed is values, such as entries, that stay encoded, as there may be ten million and a coordinator keeps them for as long as their bag runs.
type packed struct {
	encoded []byte // in MessagePack, one after the other
	blocks  []int  // where in encoded the first value of each block begins
	n       int
}

// note notes that the next value begins at that byte.
func (p *packed) note(at int) {
	if p.n%entriesInBlock == 0 {
		p.blocks = append(p.blocks, at)
	}
	p.n++
}

// Entries are those of a bag, in order. The zero value has none.
type Entries struct{ packed }

// EntriesOf returns the entries of a list.
func EntriesOf(list ...job.Entry) (e Entries) {
	var b bytes.Buffer
	b.Grow(encodedSize(list))
	enc := msgpack.NewEncoder(&b)
	for _, words := range list {
		e.note(b.Len())
		if err := enc.Encode(words); err != nil {
			panic(err) // strings can be encoded, and a buffer can be written
		}
	}
	e.encoded = b.Bytes()
	return e
}

// encodedSize returns how many bytes entries take at most, unless their words are long.
func encodedSize(list []job.Entry) (size int) {
	for _, words := range list {
		size++
		for _, w := range words {
			size += 1 + len(w)
		}
	}
	return size
}

// readEntries returns the entries that are encoded in b, which it keeps.
func readEntries(b []byte) (e Entries, err error) {
	e.encoded = b
	in := newEntryReader(b)
	for in.Len() > 0 {
		e.note(len(b) - in.Len())
		if err := in.skip(); err != nil {
			return Entries{}, fmt.Errorf("entry %d: %w", e.n, err)
		}
	}
	return e, nil
}

// Len returns the number of entries.
func (e Entries) Len() int { return e.n }

// At returns entry i, which must exist.
func (e Entries) At(i int) (words job.Entry) {
	in := newEntryReader(e.encoded[e.blocks[i/entriesInBlock]:])
	for range i % entriesInBlock {
		_ = in.skip() // all were read before, so this does not fail
	}
	_ = in.dec.Decode(&words)
	return words
}

// entryReader reads encoded entries.
type entryReader struct {
	*bytes.Reader
	dec *msgpack.Decoder
}

func newEntryReader(b []byte) entryReader {
	r := bytes.NewReader(b)
	return entryReader{r, msgpack.NewDecoder(r)}
}

// skip skips the next entry, and returns an error if none is there.
func (r entryReader) skip() error {
	words, err := r.dec.DecodeArrayLen()
	for ; words > 0 && err == nil; words-- {
		var size int
		if size, err = r.dec.DecodeBytesLen(); size > r.Len() {
			return io.ErrUnexpectedEOF
		}
		if size > 0 {
			_, _ = r.Seek(int64(size), io.SeekCurrent) // not beyond the end, so this does not fail
		}
	}
	return err
}
