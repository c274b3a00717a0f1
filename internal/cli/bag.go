package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// BagOptions are the flags of a bag of tasks.
type BagOptions struct {
	Request RequestOptions
	Env     []string // what tasks inherit; nil: the environment of this process

	eachLine, array             string
	null, skipEmpty             bool
	retries, maxFails, throttle string
	timeLimit                   string
	stdout, stderr, joblog      string

	flags *pflag.FlagSet
}

// Register adds the flags to a command's. Flags end where the bag's command begins.
func (o *BagOptions) Register(fs *pflag.FlagSet) {
	o.flags = fs
	fs.SetInterspersed(false)
	text := func(p *string, name, short, arg, usage string) { fs.VarP(textValue{p, arg}, name, short, usage) }
	text(&o.eachLine, "each-line", "", "FILE", "run the command for each line of a file (- is standard input)")
	text(&o.array, "array", "a", "INDICES", "run the command for each index: 1-10, 0-10:2, 1,5-8; %N: at most N at once")
	fs.BoolVarP(&o.null, "null", "0", false, "entries of files end in NUL, not at line ends")
	fs.BoolVarP(&o.skipEmpty, "no-run-if-empty", "r", false, "leave out empty entries; none at all is no error")
	o.registerLimits(fs)
	text(&o.stdout, "stdout", "", "TEMPLATE", "file for a task's output (default "+job.DefaultStdout+"; none discards)")
	text(&o.stderr, "stderr", "", "TEMPLATE", "file for a task's errors (default "+job.DefaultStderr+"; none discards)")
	text(&o.joblog, "joblog", "", "FILE", "write a line for each attempt, in GNU parallel's columns, to this file; folders are made")
	o.Request.Register(fs)
}

// registerLimits adds the flags that say how tasks may fail and how many may run.
func (o *BagOptions) registerLimits(fs *pflag.FlagSet) {
	text := func(p *string, name, arg, usage string) { fs.VarP(textValue{p, arg}, name, "", usage) }
	text(&o.retries, "retries", "N", "try a failed task again so often (default 0)")
	text(&o.maxFails, "max-fails", "N", "stop the job once more tasks than this failed (default never)")
	text(&o.throttle, "throttle", "N", "run at most so many tasks at once")
	text(&o.timeLimit, "time-limit", "TIME", "kill an attempt that takes longer; a plain number is minutes")
}

// Spec makes the bag of the parsed flags and of args: the command, and ::: lists
// behind it. dir is the user's folder, absolute. stdin is standard input, nil where
// it is a terminal; without another source of entries it is read for them.
//
// Entries are lines as they are: blank ones count, as with GNU parallel, unless
// --no-run-if-empty leaves them out. With it the entries may be none: there is
// nothing to run, and that is well.
func (o *BagOptions) Spec(dir string, args []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	s := job.New(job.Bag, dir)
	if err := errors.Join(o.limits(s.Bag), o.outputs(s.Bag)); err != nil {
		return nil, nil, err
	}
	sources, command, err := o.sources(args)
	if err != nil {
		return nil, nil, err
	}
	s.Bag.Array = sources.Array != nil
	if err := checkCommand(command, s.Bag.Array); err != nil {
		return nil, nil, err
	}
	if s.Bag.Array && s.Bag.Throttle == 0 {
		s.Bag.Throttle = sources.Array.Throttle
	}
	s.Bag.Command, s.Bag.Shell = job.BagCommand(command, s.Bag.Array)
	if err := o.Request.Apply(s); err != nil {
		return nil, nil, err
	}
	return finishBag(s, sources, o.Env, stdin)
}

// checkCommand refuses a bag without a command. GNU parallel runs the entries as commands then; here
// that must be asked for by the command {}, as who forgets the command has a list of files and not of commands.
func checkCommand(command []string, array bool) error {
	switch {
	case array && (len(command) == 0 || len(command) == 1 && command[0] == "{}"):
		return job.ArgumentError("", "there is no command, and array indices are none themselves", "write it behind --")
	case len(command) == 0:
		return job.ArgumentError("", "there is no command to run for each entry", "write it behind --; where the entries are commands themselves, write {} there")
	}
	return nil
}

// finishBag reads the entries and checks the whole.
func finishBag(s *job.Spec, sources *parse.BagSources, env []string, stdin io.Reader) (*job.Spec, []job.Entry, error) {
	s.Bag.Env = append(environment(env), s.Bag.Env...)
	s.Normalize()
	unsound := s.Validate()
	entries, err := readEntries(sources, s.Dir, stdin)
	if err := errors.Join(unsound, err); err != nil { // all at once
		return nil, nil, err
	}
	entries = sources.Prune(entries)
	return s, entries, sources.CheckEntries(s.Bag, entries)
}

// environment drops what is no NAME=VALUE, which no program can inherit.
func environment(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.IndexByte(kv, '=') <= 0 })
}

// limits takes the flags on how tasks run and fail.
func (o *BagOptions) limits(b *job.BagSpec) error {
	for _, n := range []struct {
		name, value string
		low, high   int
		field       *int
	}{
		{"retries", o.retries, 0, math.MaxInt16, &b.Retries},
		{"max-fails", o.maxFails, -1, math.MaxInt32, &b.MaxFails},
		{"throttle", o.throttle, 0, math.MaxInt32, &b.Throttle},
	} {
		if !o.flags.Changed(n.name) {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(n.value))
		if err != nil || v < n.low || v > n.high {
			return job.ArgumentError("--"+n.name, fmt.Sprintf("%q is no such number", n.value), fmt.Sprintf("write a whole number from %d", n.low))
		}
		*n.field = v
	}
	return o.limitTime(&b.TimeLimit)
}

// outputs takes the flags on where output goes.
func (o *BagOptions) outputs(b *job.BagSpec) error {
	for _, t := range []struct {
		name, value string
		field       *string
	}{{"stdout", o.stdout, &b.Stdout}, {"stderr", o.stderr, &b.Stderr}, {"joblog", o.joblog, &b.Joblog}} {
		if o.flags.Changed(t.name) && t.value == "" {
			return job.ArgumentError("--"+t.name, "the value is empty", "name a file")
		}
		if t.name == "joblog" && t.value == "-" {
			return job.ArgumentError("--joblog", "standard output cannot take the log: the coordinator writes it, also when this command is gone",
				"name a file, or ./- for one that is called -")
		}
		*t.field = t.value
	}
	return nil
}

func (o *BagOptions) limitTime(field *time.Duration) (err error) {
	if o.flags.Changed("time-limit") {
		*field, err = parse.Limit("--time-limit", o.timeLimit)
	}
	return err
}

// sources takes the flags and arguments on where entries come from.
func (o *BagOptions) sources(args []string) (*parse.BagSources, []string, error) {
	command, lists, err := parse.SplitLists(args)
	if err != nil {
		return nil, nil, err
	}
	s := &parse.BagSources{EachLine: o.eachLine, Lists: lists, Null: o.null, SkipEmpty: o.skipEmpty}
	switch {
	case o.flags.Changed("each-line"):
		s.Where = "--each-line"
		if o.eachLine == "" {
			return nil, nil, job.ArgumentError(s.Where, "the value is empty", "name a file")
		}
	case len(lists) > 0:
		s.Where = "lists"
	}
	if o.flags.Changed("array") {
		s.Where = "--array"
		a, err := parse.Array(s.Where, o.array)
		if err != nil {
			return nil, nil, err
		}
		s.Array = &a
	}
	return s, command, s.Check()
}
