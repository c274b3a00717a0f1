package mapreduce

import (
	"context"
	"io"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
)

// Role is what a program does in a job.
type Role int

// The roles of programs.
const (
	Maps Role = iota
	Reduces
	Combines // hands on partial results for the reducer
)

// Native returns the program that runs inside the worker for p, nil for the identity, and false if
// p is a command.
func Native(p job.Program, spec *job.MapReduceSpec, role Role) (Program, bool) {
	switch p.Native {
	case job.NativeIdentity:
		return nil, true
	case job.NativeAggregate:
		return native{hadoop.NewAggregate(spec, role == Combines)}, true
	case job.NativeSelection:
		selection, err := hadoop.NewFieldSelection(spec, role == Maps)
		if err != nil {
			return nil, false // the job was refused (hadoop.Check)
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

// wantsTabs reports whether p is a command, which reads a line that is only a key
// with a separator behind the key. Others see records as they are.
func wantsTabs(p Program) bool { return p != nil && !isNative(p) }

// native is a program that berth has itself.
type native struct {
	program interface {
		Run(in io.Reader, out io.Writer) error
	}
}

// Run has the program make out of in.
func (n native) Run(_ context.Context, in io.Reader, out io.Writer) error {
	return n.program.Run(in, out)
}
