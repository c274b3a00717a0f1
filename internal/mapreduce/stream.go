package mapreduce

import (
	"context"
	"fmt"
	"io"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/sys/probe"
)

// pieceSize is how many bytes the identity passes on at once.
const pieceSize = 256 << 10

// runProgram runs a program from in to out. If p is nil, it copies in to out. role is the name of a native
// program in errors; the worker names a command.
//
// spent, which may be nil, receives the CPU time and disk use of berth's own threads. For a command, which
// is a process of its own, this is the cost of the streams. For a native program it is the whole cost.
func runProgram(ctx context.Context, role string, p Program, in io.Reader, out io.Writer, spent func(probe.Spent)) error {
	s := &streams{ctx, in, out, spent}
	switch {
	case p == nil:
		_, err := io.CopyBuffer(s, s, make([]byte, pieceSize))
		return err
	case !isNative(p):
		return p.Run(ctx, s, s)
	}
	s.spent = nil
	if err := probe.Metered(spent, func() error { return p.Run(ctx, s, s) }); err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return nil
}

// streams is the input and the output of a program. It measures what reading and writing cost.
type streams struct {
	ctx   context.Context
	in    io.Reader
	out   io.Writer
	spent func(probe.Spent) // nil: the cost is measured elsewhere
}

// Read reads the program's input.
func (s *streams) Read(b []byte) (n int, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	err = probe.Metered(s.spent, func() error {
		n, err = s.in.Read(b)
		return err
	})
	return n, err
}

// Write adds a piece of the program's output.
func (s *streams) Write(b []byte) (n int, err error) {
	err = probe.Metered(s.spent, func() error {
		n, err = s.out.Write(b)
		return err
	})
	return n, err
}

// sorterOutput is a sorter as the output of a program.
type sorterOutput struct {
	*extsort.Sorter
	report func() // called after each piece
}

func (o sorterOutput) Write(b []byte) (int, error) {
	defer o.report()
	return o.Sorter.Write(b)
}

// newCombiner returns the combiner that runs p, or nil if p is nil. The time of a native combiner is not
// measured here, as the caller of the combiner measures the time of its thread.
func newCombiner(ctx context.Context, p Program, spec *job.MapReduceSpec, partition hadoop.Partitioner, prog Progress, c counters) *extsort.Combiner {
	if p == nil {
		return nil
	}
	spent := prog.Spent
	if isNative(p) {
		spent = nil
	}
	run := func(in extsort.Lines, out *extsort.Sorter) error {
		before := out.Lines
		err := runProgram(ctx, "combiner", p, in, out, spent)
		if err == nil {
			err = out.Finish()
		}
		c["COMBINE_INPUT_RECORDS"] += in.Records()
		c["COMBINE_OUTPUT_RECORDS"] += out.Lines - before
		return err
	}
	return &extsort.Combiner{
		Records: extsort.Records{Format: hadoop.CombineFormat(spec), Partition: partition, From: "combiner"},
		Tabs:    wantsTabs(p), Run: run,
	}
}
