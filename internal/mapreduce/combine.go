package mapreduce

import (
	"context"
	"fmt"
	"io"
)

// combine runs records, as lines in order, through a combiner into buf, which sorts
// what it writes and flushes it: a combiner need not write in order. The caller
// meters the time of its own thread, and so that of a native combiner.
func combine(ctx context.Context, p Program, src io.Reader, buf *buffer, prog Progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in := newStream(ctx, p, src, prog, cancel)
	out := newSink(p, buf, prog, func() {}, cancel)
	err := p.Run(ctx, in, out)
	if err := programError("combiner", err, in.err, out.err); err != nil {
		return err
	}
	return buf.finish()
}

// programError returns why a program's run failed: an error of its input or output,
// which are ours, goes before its own, which may only follow from it.
func programError(what string, err error, ours ...error) error {
	for _, e := range ours {
		if e != nil {
			return e
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
