package streaming

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// Result is the job of a command line.
type Result struct {
	Spec     *job.Spec // normalised and checked; nil with Help
	Warnings []string  // what the user should change
	Notes    []string  // what berth decided by itself

	Detach  bool // submit and return
	JSON    bool
	Verbose bool

	HadoopMessages bool // show the job as "hadoop jar" does
	Help           bool // -help: nothing else was looked at
	Info           bool // -info: help with all keys
}

// Parse makes a job from a command line of Hadoop Streaming. args are the arguments after the command's name, dir is
// the absolute path of the user's folder, and env is the environment that tasks inherit; its PATH is used to check
// that programs exist. Errors are of type *job.Error.
func Parse(args []string, dir string, env []string) (*Result, error) {
	if help := helpAsked(args); help != nil {
		return help, nil
	}
	r, err := readArgs(args)
	if err != nil {
		return nil, err
	}
	b := newBuilder(dir, env)
	b.result.Warnings = r.warnings
	return b.finish(r.settings, parse.Ask{})
}

// FromSettings makes a job with a name from flags and from a request, both read from a job file. dir is the user's
// folder.
func FromSettings(name string, settings []Setting, ask parse.Ask, dir string, env []string) (*Result, error) {
	b := newBuilder(dir, env)
	b.spec.Name = name
	return b.finish(settings, ask)
}

// Setting is a flag with its value, and where it was written.
type Setting struct{ Name, Value, Where string }

func (b *builder) finish(settings []Setting, ask parse.Ask) (*Result, error) {
	if err := b.build(settings, ask); err != nil {
		return nil, err
	}
	b.result.Spec = b.spec
	return b.result, nil
}

// helpAsked returns a result that asks for help, or nil if the command line does not. Help is shown whatever else
// the command line contains.
func helpAsked(args []string) *Result {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	info, help := has("-info", "--info"), has("-help", "--help", "-h")
	if !info && !help {
		return nil
	}
	return &Result{Help: true, Info: info}
}
