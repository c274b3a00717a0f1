package input

import (
	"context"
	"io"
	"time"

	"berth/internal/job"
)

const (
	// BlockSize is the largest number of bytes that a Stream returns at once.
	BlockSize = 256 << 10
	// beyond is how many bytes are requested behind a range, so that the end of its last line needs no request of its own.
	beyond = 64 << 10
	// remoteTries is how often a block is requested that does not arrive whole. The pause between two tries doubles, beginning with remotePause.
	remoteTries = 4
	remotePause = 100 * time.Millisecond
)

// Source requests parts of one file that lies elsewhere.
type Source interface {
	// Request requests n bytes from an offset on, or fewer at the end of the file. It returns them as a stream, and the size of the file in bytes.
	Request(ctx context.Context, at, n int64) (Stream, int64, error)
	// Final reports whether an error would come again if the same bytes were requested again.
	Final(err error) bool
	// Incomplete returns the error of a file of which a part did not arrive in several tries, the last of which failed with err.
	Incomplete(err error) error
}

// Stream is an answer of a Source that arrives block by block.
type Stream interface {
	// Next reads the next block into buf, which has BlockSize bytes, and returns the part of buf that holds it. The error is io.EOF itself
	// where all that was requested has arrived, and any other one where the answer is cut off or damaged.
	Next(buf []byte) ([]byte, error)
	io.Closer
}

// remote is a file of a Source. It requests all that a map will read at once, so that reading on waits for no answer.
type remote struct {
	ctx  context.Context
	src  Source
	name string
	net  func(int64)
	end  int64 // the offset up to which a request reaches
	size int64
	pos  int64 // of Read

	stream Stream // the blocks that are on their way; nil: none
	next   int64  // the offset of the next of them
	data   []byte // the block that was read last; a part of buf
	at     int64  // its offset
	buf    []byte
}

// OpenRemote opens the file of a range for reading by one goroutine. Its first request is made here, and it is for what a map of that range will read.
// net is told how many bytes arrive.
func OpenRemote(ctx context.Context, src Source, r job.Range, net func(int64)) (File, error) {
	f := &remote{ctx: ctx, src: src, name: r.Path, net: net, size: r.Size, end: r.Size, buf: make([]byte, BlockSize)}
	begin := int64(0)
	if r.Length >= 0 {
		begin, f.end = max(0, r.Offset-1), min(r.Size, r.Offset+r.Length+beyond) // the byte before a range tells whether a line begins with it
	}
	if err := f.request(begin); err != nil {
		return nil, err
	}
	return f, nil
}

// request requests the file from an offset on.
func (f *remote) request(at int64) (err error) {
	f.hangUp()
	s, size, err := f.src.Request(f.ctx, at, max(f.end-at, beyond))
	if err != nil {
		return err
	}
	f.stream, f.next, f.size = s, at, size
	return nil
}

func (f *remote) hangUp() {
	if f.stream != nil {
		_ = f.stream.Close()
		f.stream = nil
	}
}

// fill reads the block that begins at an offset into data. A block that is cut off or damaged on its way is requested again.
func (f *remote) fill(at int64) error {
	pause := remotePause
	for try := 1; ; try++ {
		err := f.read(at)
		switch {
		case err == nil || f.src.Final(err):
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case try == remoteTries:
			return f.src.Incomplete(err)
		}
		f.hangUp()
		select {
		case <-time.After(pause):
		case <-f.ctx.Done():
		}
		pause *= 2
	}
}

// read reads the block that begins at an offset. A stream that is elsewhere in the file is closed.
func (f *remote) read(at int64) error {
	f.data = nil // its memory is used again
	if f.stream == nil || f.next != at {
		if err := f.request(at); err != nil {
			return err
		}
	}
	data, err := f.stream.Next(f.buf)
	if err == io.EOF && at < f.size { // all that was requested has arrived
		if err = f.request(at); err == nil {
			data, err = f.stream.Next(f.buf)
		}
	}
	if err != nil {
		return err
	}
	f.data, f.at, f.next = data, at, at+int64(len(data))
	f.net(int64(len(data)))
	return nil
}

// ReadAt reads at an offset. It is quick where that is in or right behind the block that was read last.
func (f *remote) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= f.size {
			return n, io.EOF
		}
		if at < f.at || at >= f.at+int64(len(f.data)) {
			if err := f.fill(at); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], f.data[at-f.at:])
	}
	return n, nil
}

// Read reads on from where the last Read ended.
func (f *remote) Read(p []byte) (int, error) {
	p = p[:min(len(p), BlockSize)] // what has arrived can be decompressed before more has
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

// Name returns the file's path or the object's name.
func (f *remote) Name() string { return f.name }

// Size returns how many bytes the file had when it was last requested.
func (f *remote) Size() (int64, error) { return f.size, nil }

// Close closes the stream that is on its way.
func (f *remote) Close() error {
	f.hangUp()
	return nil
}
