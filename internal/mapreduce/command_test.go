package mapreduce

import (
	"cmp"
	"context"
	"io"
	"os/exec"
)

// inPieces and outPieces have package exec copy as a worker does, in pieces that make calls cheap,
// and keep the errors of what they copy from and to.
type inPieces struct {
	io.Reader
	err error
}

func (p *inPieces) WriteTo(w io.Writer) (int64, error) {
	return 0, pump(w, p)
}

func (p *inPieces) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		p.err = err
	}
	return n, err
}

type outPieces struct {
	io.Writer
	err error
}

func (p *outPieces) ReadFrom(r io.Reader) (int64, error) { return 0, pump(p, r) }

func (p *outPieces) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if err != nil {
		p.err = err
	}
	return n, err
}

// command runs a shell command between the streams, as a worker does.
func command(script string) Program {
	return programFunc(func(ctx context.Context, in io.Reader, out io.Writer) error {
		r, w := &inPieces{Reader: in}, &outPieces{Writer: out}
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Stdin, cmd.Stdout = r, w
		err := cmd.Run()
		return cmp.Or(r.err, w.err, err)
	})
}
