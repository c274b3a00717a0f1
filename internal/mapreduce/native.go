package mapreduce

import (
	"context"
	"errors"
	"io"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
)

// Native returns the mapper or reducer that runs inside the worker for p, and false
// if p is a command.
func Native(p job.Program, spec *job.MapReduceSpec) (Program, bool) {
	switch p.Native {
	case "identity":
		return identity{}, true
	case "aggregate":
		return aggregate{hadoop.NewAggregate(spec, false)}, true
	default:
		return nil, false
	}
}

// NativeCombiner is Native for a combiner: an aggregate there hands on partial
// results for the reducer instead of final ones.
func NativeCombiner(p job.Program, spec *job.MapReduceSpec) (Program, bool) {
	if p.Native == "aggregate" {
		return aggregate{hadoop.NewAggregate(spec, true)}, true
	}
	return Native(p, spec)
}

// IsIdentity reports whether p hands its input on as it is, so that the data need
// not go through it.
func IsIdentity(p Program) bool {
	_, ok := p.(identity)
	return ok
}

// isNative reports whether p runs on the goroutine that calls its Run.
func isNative(p Program) bool {
	_, ok := p.(aggregate)
	return ok
}

// wantsTabs reports whether p is a command, which reads a line that is only a key
// with a separator behind the key. Native programs see records as they are.
func wantsTabs(p Program) bool { return !IsIdentity(p) && !isNative(p) }

type aggregate struct{ *hadoop.Aggregate }

// Run aggregates in into out.
func (a aggregate) Run(_ context.Context, in io.Reader, out io.Writer) error {
	return a.Aggregate.Run(in, out)
}

type identity struct{}

// Run is never called: records that the identity would hand on go past it.
func (identity) Run(context.Context, io.Reader, io.Writer) error {
	return errors.New("the identity does not run")
}
