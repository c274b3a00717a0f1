package mapreduce

import (
	"context"
	"io"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
)

// Native returns the program that runs inside the worker for p, nil for the identity, and false if
// p is a command. A native program that combines hands on partial results for the reducer.
func Native(p job.Program, spec *job.MapReduceSpec, combines bool) (Program, bool) {
	switch p.Native {
	case job.NativeIdentity:
		return nil, true
	case job.NativeAggregate:
		return aggregate{hadoop.NewAggregate(spec, combines)}, true
	default:
		return nil, false
	}
}

// isNative reports whether p runs on the goroutine that calls its Run.
func isNative(p Program) bool {
	_, ok := p.(aggregate)
	return ok
}

// wantsTabs reports whether p is a command, which reads a line that is only a key
// with a separator behind the key. Others see records as they are.
func wantsTabs(p Program) bool { return p != nil && !isNative(p) }

type aggregate struct{ *hadoop.Aggregate }

// Run aggregates in into out.
func (a aggregate) Run(_ context.Context, in io.Reader, out io.Writer) error {
	return a.Aggregate.Run(in, out)
}
