package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"io"

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
	advance(n int) error
}

// runProgram runs a program from in to out. Without a program records are handed on as they are.
// role names a native program in errors; the worker names a command.
//
// spent, which may be nil, is told what our side uses up: that of the streams for a command,
// which is a process of its own, all of it for a native program.
func runProgram(ctx context.Context, role string, p Program, in io.Reader, out output, spent func(probe.Spent)) error {
	s := &streams{ctx, in, out, spent}
	switch {
	case p == nil:
		return s.copy()
	case !isNative(p):
		return p.Run(ctx, s, s)
	}
	s.spent = nil
	if err := probe.Metered(spent, func() error { return p.Run(ctx, s, s) }); err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return nil
}

// streams is what a program reads from and writes to, and meters what that uses up.
type streams struct {
	ctx   context.Context
	in    io.Reader
	out   output
	spent func(probe.Spent) // nil: it is metered elsewhere
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

// Write takes what the program writes.
func (s *streams) Write(b []byte) (n int, err error) {
	err = probe.Metered(s.spent, func() error {
		n, err = s.out.Write(b)
		return err
	})
	return n, err
}

// copy hands the input on as it is, without a copy in memory.
func (s *streams) copy() error {
	var room []byte
	more := func() (err error) {
		room, err = s.out.room()
		return err
	}
	if err := probe.Metered(s.spent, more); err != nil {
		return err
	}
	for {
		n, rerr := s.Read(room)
		err := probe.Metered(s.spent, func() error {
			if err := s.out.advance(n); err != nil {
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

func (o sorterOutput) advance(n int) error {
	defer o.tell()
	return o.Advance(n)
}

// newCombiner returns how p combines records; nil without one. Who runs it
// meters the time of its own thread, and so that of a native one.
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
		err := runProgram(ctx, "combiner", p, in, sorterOutput{out, func() {}}, spent)
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
