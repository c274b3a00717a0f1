package input

import (
	"context"
	"io"
	"time"

	"berth/internal/core/job"
)

const (
	// BlockSize is how many bytes of a stream are read at once.
	BlockSize = 256 << 10
	// beyond is how many bytes behind a range are requested with it, so that the end of its last line needs no further request.
	beyond = 64 << 10
	// remoteTries is how many times a block is requested. The pause between two requests begins with remotePause and doubles.
	remoteTries = 4
	remotePause = 100 * time.Millisecond
)

// Source requests parts of one file on another machine.
type Source interface {
	// Request requests n bytes from offset at, or fewer at the end of the file. It returns them as a stream, and the size of the file in bytes.
	Request(ctx context.Context, at, n int64) (io.ReadCloser, int64, error)
	// Final reports whether another request for the same bytes would have the same error.
	Final(err error) bool
	// Incomplete returns the error for a file of which a part did not arrive in several requests. err is the error of the last one.
	Incomplete(err error) error
}

// remote is a file of a Source. It requests everything that a map will read at once, so that later reads wait for no further answer.
type remote struct {
	ctx  context.Context
	src  Source
	name string
	net  func(int64)
	end  int64 // the offset up to which a request reaches
	size int64

	stream io.ReadCloser // the answer to the present request; nil: none
	next   int64         // the offset of its next byte
	until  int64         // the offset at which it ends
	data   []byte        // the block that was read last; a part of buf
	at     int64         // its offset
	buf    []byte
}

// OpenRemote opens the file of a range for reading by one goroutine. It makes the first request, for everything that a map of the range will read.
// net receives the number of bytes of each block that arrives.
func OpenRemote(ctx context.Context, src Source, r job.Range, net func(int64)) (File, error) {
	f := &remote{ctx: ctx, src: src, name: r.Path, net: net, size: r.Size, end: r.Size, buf: make([]byte, BlockSize)}
	begin := int64(0)
	if r.Length >= 0 {
		begin, f.end = max(0, r.Offset-1), min(r.Size, r.Offset+r.Length+beyond) // the byte before a range shows whether a line begins at the range
	}
	if err := f.request(begin); err != nil {
		return nil, err
	}
	return f, nil
}

// request requests the file from offset at, and ends the request before.
func (f *remote) request(at int64) (err error) {
	f.hangUp()
	n := max(f.end-at, beyond)
	s, size, err := f.src.Request(f.ctx, at, n)
	if err != nil {
		return err
	}
	f.stream, f.next, f.until, f.size = s, at, min(at+n, size), size
	return nil
}

func (f *remote) hangUp() {
	if f.stream != nil {
		_ = f.stream.Close()
		f.stream = nil
	}
}

// fill reads the block at offset at into data. It requests a block again that is cut off or damaged.
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

// read reads the block at offset at. If the present stream is at another offset or has ended, a new request is made.
func (f *remote) read(at int64) error {
	f.data = nil // the memory is reused
	if f.stream == nil || f.next != at || at == f.until {
		if err := f.request(at); err != nil {
			return err
		}
	}
	data := f.buf[:max(0, min(BlockSize, f.until-at))]
	if _, err := io.ReadFull(f.stream, data); err == io.EOF { // it ends too early, at a block
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	f.data, f.at, f.next = data, at, at+int64(len(data))
	f.net(int64(len(data)))
	return nil
}

// ReadAt reads at an offset. It is fast if the offset is in the last block or directly behind it.
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

// Name returns the file's path or the object's name.
func (f *remote) Name() string { return f.name }

// Size returns the size of the file in bytes, as the last answer said.
func (f *remote) Size() int64 { return f.size }

// Close closes the stream.
func (f *remote) Close() error {
	f.hangUp()
	return nil
}
