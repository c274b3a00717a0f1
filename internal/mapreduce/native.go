package mapreduce

import (
	"context"
	"fmt"
	"io"

	"berth/internal/job"
)

// Native returns the mapper or reducer that runs inside the worker for p, and false
// if p is a command.
func Native(p job.Program, spec *job.MapReduceSpec) (Program, bool) {
	switch p.Native {
	case "identity":
		return identity{}, true
	case "aggregate":
		return newAggregate(spec, false), true
	default:
		return nil, false
	}
}

// NativeCombiner is Native for a combiner: an aggregate there hands on partial
// results for the reducer instead of final ones.
func NativeCombiner(p job.Program, spec *job.MapReduceSpec) (Program, bool) {
	if p.Native == "aggregate" {
		return newAggregate(spec, true), true
	}
	return Native(p, spec)
}

// IsIdentity reports whether p hands its input on as it is, so that the data need
// not go through it.
func IsIdentity(p Program) bool {
	_, ok := p.(identity)
	return ok
}

// wantsTabs reports whether p is a command, which reads a line that is only a key
// with a separator behind the key. Native programs see records as they are.
func wantsTabs(p Program) bool { return !IsIdentity(p) && !isNative(p) }

type identity struct{}

// Run copies in to out.
func (identity) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	if _, err := io.CopyBuffer(out, contextReader{ctx, in}, make([]byte, bufferSize)); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return nil
}

// contextReader ends reading once its context is done.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
