package mapreduce

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"berth/internal/probe"
)

// stream is the input of a program: it reads src, meters the time that takes, and
// remembers an error of src, as the program may only see that its input ended.
type stream struct {
	ctx  context.Context
	src  io.Reader
	cpu  func(time.Duration) // is told the time that takes; nil: it is metered elsewhere
	fail func(error)
	err  error // of src, io.EOF aside
}

// inPiece is how much is handed to a program at once: it stays in the core's cache.
const inPiece = 256 << 10

const outBuffer = 1 << 20

var outBuffers = sync.Pool{New: func() any { b := make([]byte, outBuffer); return &b }}

// newStream makes the input of p. fail is called with an error of src at once.
func newStream(ctx context.Context, p Program, src io.Reader, prog Progress, fail func(error)) *stream {
	return &stream{ctx: ctx, src: src, cpu: cpuOf(p, prog), fail: fail}
}

// Read reads src.
func (s *stream) Read(b []byte) (n int, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	err = probe.Metered(s.cpu, func() error {
		n, err = s.src.Read(b)
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) && s.err == nil {
		s.err = err
		s.fail(err)
	}
	return n, err
}

// WriteTo reads src to its end in large pieces.
func (s *stream) WriteTo(w io.Writer) (sum int64, err error) {
	buf := outBuffers.Get().(*[]byte)
	defer outBuffers.Put(buf)
	for {
		n, err := s.Read((*buf)[:inPiece])
		if n > 0 {
			m, werr := w.Write((*buf)[:n])
			sum += int64(m)
			if werr != nil {
				return sum, werr
			}
		}
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// sink is the output of a program into a buffer. It remembers an error of the
// buffer, as the program may only see that nobody reads what it writes.
type sink struct {
	buf   *buffer
	cpu   func(time.Duration) // is told the time; nil: it is metered elsewhere
	after func()              // called for each piece
	fail  func(error)
	err   error // of the buffer
}

// newSink makes the output of p. fail is called with an error of the buffer at once.
func newSink(p Program, buf *buffer, prog Progress, after func(), fail func(error)) *sink {
	return &sink{buf: buf, cpu: cpuOf(p, prog), after: after, fail: fail}
}

// Write takes lines.
func (s *sink) Write(b []byte) (n int, err error) {
	err = s.do(func() error {
		n, err = s.buf.Write(b)
		return err
	})
	s.after()
	return n, err
}

// ReadFrom takes lines until r ends.
func (s *sink) ReadFrom(r io.Reader) (sum int64, err error) {
	var room []byte
	more := func() (err error) {
		room, err = s.buf.room()
		return err
	}
	if err := s.do(more); err != nil {
		return 0, err
	}
	for {
		n, rerr := r.Read(room)
		sum += int64(n)
		err := s.do(func() error {
			if err := s.buf.took(n); err != nil {
				return err
			}
			return more()
		})
		s.after()
		switch {
		case err != nil:
			return sum, err
		case errors.Is(rerr, io.EOF):
			return sum, nil
		case rerr != nil:
			return sum, rerr
		}
	}
}

// do works on the buffer.
func (s *sink) do(f func() error) error {
	err := probe.Metered(s.cpu, f)
	if err != nil && s.err == nil {
		s.err = err
		s.fail(err)
	}
	return err
}
