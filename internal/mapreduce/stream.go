package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"berth/internal/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/probe"
)

// output takes what a program writes.
type output interface {
	io.Writer
	// room returns memory for the next bytes, never empty; took takes the first n of it. What is
	// read into it need not be copied.
	room() ([]byte, error)
	took(n int) error
}

// runProgram runs a program from in to out. An error of either, which are ours, goes before the
// program's own, which may only follow from it. role names the program in errors.
//
// cpu, which may be nil, is told the time that our side takes: that of the streams for a command,
// which is a process of its own, all of it for a native program. Without a program records are handed on
// as they are.
func runProgram(ctx context.Context, role string, p Program, in io.Reader, out output, cpu func(time.Duration)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &streams{ctx: ctx, in: in, out: out, cpu: cpu, fail: cancel}
	var err error
	switch {
	case p == nil:
		err = s.copy()
	case isNative(p):
		s.cpu = nil
		err = probe.Metered(cpu, func() error { return p.Run(ctx, s, s) })
	default:
		err = p.Run(ctx, s, s)
	}
	switch {
	case s.inErr != nil:
		return s.inErr
	case s.outErr != nil:
		return s.outErr
	case err != nil:
		return fmt.Errorf("%s: %w", role, err)
	}
	return nil
}

// streams is what a program reads from and writes to. It meters the time that takes, and remembers
// errors: the program may only see that its input ended, or that nobody reads what it writes. It is
// told by fail at once.
type streams struct {
	ctx    context.Context
	in     io.Reader
	out    output
	cpu    func(time.Duration) // nil: the time is metered elsewhere
	fail   func(error)
	inErr  error // of in, io.EOF aside
	outErr error
}

// Read reads the program's input.
func (s *streams) Read(b []byte) (n int, err error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	err = probe.Metered(s.cpu, func() error {
		n, err = s.in.Read(b)
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) && s.inErr == nil {
		s.inErr = err
		s.fail(err)
	}
	return n, err
}

// Write takes what the program writes.
func (s *streams) Write(b []byte) (n int, err error) {
	err = s.put(func() error {
		n, err = s.out.Write(b)
		return err
	})
	return n, err
}

// put works on the output.
func (s *streams) put(f func() error) error {
	err := probe.Metered(s.cpu, f)
	if err != nil && s.outErr == nil {
		s.outErr = err
		s.fail(err)
	}
	return err
}

// copy hands the input on as it is, without a copy in memory.
func (s *streams) copy() error {
	var room []byte
	more := func() (err error) {
		room, err = s.out.room()
		return err
	}
	if err := s.put(more); err != nil {
		return err
	}
	for {
		n, rerr := s.Read(room)
		err := s.put(func() error {
			if err := s.out.took(n); err != nil {
				return err
			}
			return more()
		})
		switch {
		case err != nil:
			return err
		case errors.Is(rerr, io.EOF):
			return nil
		case rerr != nil:
			return rerr
		}
	}
}

// sorterOutput has a sorter take what a program writes.
type sorterOutput struct {
	*extsort.Sorter
	tell func() // called for each piece
}

func (o sorterOutput) Write(b []byte) (int, error) {
	defer o.tell()
	return o.Sorter.Write(b)
}

func (o sorterOutput) room() ([]byte, error) { return o.Room() }

func (o sorterOutput) took(n int) error {
	defer o.tell()
	return o.Took(n)
}

// newCombiner returns how p combines records; nil without one. Who runs it
// meters the time of its own thread, and so that of a native one.
func newCombiner(ctx context.Context, p Program, spec *job.MapReduceSpec, partition hadoop.Partitioner, prog Progress, c counters) *extsort.Combiner {
	if p == nil {
		return nil
	}
	cpu := prog.CPU
	if isNative(p) {
		cpu = nil
	}
	run := func(in extsort.Lines, out *extsort.Sorter) error {
		before := out.Lines
		err := runProgram(ctx, "combiner", p, in, sorterOutput{out, func() {}}, cpu)
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
