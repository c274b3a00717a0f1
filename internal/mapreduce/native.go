package mapreduce

import (
	"context"
	"io"

	"berth/internal/core/job"
	"berth/internal/mapreduce/hadoop"
)

// Role is what a program does in a job.
type Role int

// The roles of programs.
const (
	Maps Role = iota
	Reduces
	Combines // computes partial results for the reducer
)

// Native returns the program that runs inside the worker for p: nil for the identity. It returns false
// if p is a command.
func Native(p job.Program, spec *job.MapReduceSpec, role Role) (Program, bool) {
	switch p.Native {
	case job.NativeIdentity:
		return nil, true
	case job.NativeAggregate:
		return native{hadoop.NewAggregate(spec, role == Combines)}, true
	case job.NativeSelection:
		selection, err := hadoop.NewFieldSelection(spec, role == Maps)
		if err != nil {
			return nil, false // cannot happen, as hadoop.Check refused such a job
		}
		return native{selection}, true
	default:
		return nil, false
	}
}

// isNative reports whether p runs on the goroutine that calls its Run.
func isNative(p Program) bool {
	_, ok := p.(native)
	return ok
}

// wantsTabs reports whether p is a command. A command reads a line that is only a key with a separator
// behind the key. Native programs read the line unchanged.
func wantsTabs(p Program) bool { return p != nil && !isNative(p) }

// native is a program that is part of berth.
type native struct {
	program interface {
		Run(in io.Reader, out io.Writer) error
	}
}

// Run runs the program from in to out.
func (n native) Run(_ context.Context, in io.Reader, out io.Writer) error {
	return n.program.Run(in, out)
}
