package streaming

import (
	"slices"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// Result is what a command line comes to.
type Result struct {
	Spec     *job.Spec // normalised and checked; nil with Help
	Warnings []string  // what a user should mend
	Notes    []string  // what berth did of its own accord

	Detach  bool // submit and return
	JSON    bool
	Verbose bool

	HadoopMessages bool // show the job as "hadoop jar" does
	Help           bool // -help: nothing else was looked at
	Info           bool // -info: help with all keys
}

// Parse makes a job of a Hadoop Streaming command line, args being what follows the
// command's name. dir is the user's folder, absolute; env the environment the tasks
// inherit, and whose PATH tells whether a program is there. Errors are *job.Error.
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

// FromSettings makes a job of that name of flags and of what was asked for already, as a job file
// has them, for a user who stands in dir.
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

// helpAsked returns a result that asks for help, nil where none was asked for. Help
// is given whatever else the line says.
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
