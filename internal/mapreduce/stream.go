package mapreduce

import (
	"context"
	"errors"
	"io"
)

// stream is the input of a program: it reads src, meters the time that takes, and
// remembers an error of src, as the program may only see that its input ended.
type stream struct {
	ctx   context.Context
	src   io.Reader
	prog  Progress // nil: the time is metered elsewhere
	after func()   // called for each piece; may be nil
	fail  func(error)
	err   error // of src, io.EOF aside
}

// pieceSize is how much is handed to a program at once: it stays in the core's cache.
const pieceSize = 256 << 10

// newStream makes the input of p. fail is called with an error of src at once.
func newStream(ctx context.Context, p Program, src io.Reader, prog Progress, fail func(error)) *stream {
	if isNative(p) {
		prog = nil
	}
	return &stream{ctx: ctx, src: src, prog: prog, fail: fail}
}

// Read reads src.
func (s *stream) Read(b []byte) (n int, err error) {
	if s.prog == nil {
		return s.read(b)
	}
	err = metered(s.prog, func(func()) error {
		n, err = s.read(b)
		return err
	})
	return n, err
}

func (s *stream) read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.src.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && s.err == nil {
		s.err = err
		s.fail(err)
	}
	if s.after != nil {
		s.after()
	}
	return n, err
}

// WriteTo reads src to its end in large pieces.
func (s *stream) WriteTo(w io.Writer) (sum int64, err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	piece := (*buf)[:pieceSize]
	all := func(lap func()) error {
		for {
			n, err := s.read(piece)
			if n > 0 {
				m, werr := w.Write(piece[:n])
				sum += int64(m)
				if werr != nil {
					return werr
				}
			}
			lap()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	if s.prog == nil {
		err = all(func() {})
	} else {
		err = metered(s.prog, all)
	}
	return sum, err
}

// sink is the output of a program into a buffer. It remembers an error of the
// buffer, as the program may only see that nobody reads what it writes.
type sink struct {
	buf   *buffer
	prog  Progress // nil: the time is metered elsewhere
	after func()   // called for each piece
	fail  func(error)
	err   error // of the buffer
}

// newSink makes the output of p. fail is called with an error of the buffer at once.
func newSink(p Program, buf *buffer, prog Progress, after func(), fail func(error)) *sink {
	if isNative(p) {
		prog = nil
	}
	return &sink{buf: buf, prog: prog, after: after, fail: fail}
}

// Write takes lines.
func (s *sink) Write(b []byte) (n int, err error) {
	take := func(func()) error {
		n, err = s.buf.Write(b)
		s.after()
		return s.note(err)
	}
	if s.prog == nil {
		err = take(nil)
	} else {
		err = metered(s.prog, take)
	}
	return n, err
}

// ReadFrom takes lines until r ends.
func (s *sink) ReadFrom(r io.Reader) (n int64, err error) {
	take := func(lap func()) error {
		var rerr error
		n, err, rerr = s.buf.readFrom(r, func() { s.after(); lap() })
		return errors.Join(s.note(err), rerr)
	}
	if s.prog == nil {
		err = take(func() {})
	} else {
		err = metered(s.prog, take)
	}
	return n, err
}

func (s *sink) note(err error) error {
	if err != nil && s.err == nil {
		s.err = err
		s.fail(err)
	}
	return err
}
