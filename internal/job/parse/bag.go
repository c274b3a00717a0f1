package parse

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
)

// BagOptions returns the table of what can be asked of a bag besides Options, in the order in
// which help shows it.
func BagOptions() []Option { return bagOptions[:] }

var bagOptions = [...]Option{
	{Name: "each-line", Arg: "FILE", Usage: "run the command for each line of a file (- is standard input)", set: setEachLine},
	{Name: "array", Short: "a", Arg: "INDICES", Usage: "run the command for each index: 1-10, 0-10:2, 1,5-8; %N: at most N at once", set: setArray},
	{Name: "null", Short: "0", Usage: "entries of files end in NUL, not at line ends", set: into(Bool, func(a *Ask) *bool { return &a.Sources.Null })},
	{Name: "colsep", Arg: "REGEXP", Usage: "what separates the columns {1}, {2} … of an entry, whose white space at both ends goes: , or '\\t'", set: setColsep},
	{Name: "no-run-if-empty", Short: "r", Usage: "leave out empty entries; none at all is no error", set: into(Bool, func(a *Ask) *bool { return &a.Sources.SkipEmpty })},
	{Name: "retries", Arg: "N", Limit: true, Usage: "try a failed task again so often (default 0)",
		set: bagValue(from(0, math.MaxInt16), func(b *job.BagSpec) *int { return &b.Retries })},
	{Name: "max-fails", Arg: "N", Limit: true, Usage: "stop the job once more tasks than this failed (default never)",
		set: bagValue(from(-1, math.MaxInt32), func(b *job.BagSpec) *int { return &b.MaxFails })},
	{Name: "throttle", Arg: "N", Limit: true, Usage: "run at most so many tasks at once",
		set: bagValue(from(0, math.MaxInt32), func(b *job.BagSpec) *int { return &b.Throttle })},
	{Name: "duplicates-ok", Limit: true, Usage: "two attempts of one task may run at the same time, so that slow ones can be duplicated",
		set: bagValue(Bool, func(b *job.BagSpec) *bool { return &b.DuplicatesOK })},
	{Name: "time-limit", Arg: "TIME", Limit: true, Usage: "kill an attempt that takes longer; a plain number is minutes",
		set: bagValue(Limit, func(b *job.BagSpec) *time.Duration { return &b.TimeLimit })},
	{Name: "stdout", Arg: "TEMPLATE", Usage: "file for a task's output (default " + job.DefaultStdout + "; none discards, collect makes few files of all, the default above " + strconv.Itoa(job.ManyTasks) + " tasks)",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.Stdout })},
	{Name: "stderr", Arg: "TEMPLATE", Usage: "file for a task's errors (default " + job.DefaultStderr + "; none discards, collect as with --stdout)",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.Stderr })},
	{Name: "outputs", Arg: "PATTERN", Many: true, Usage: "what a task leaves in the job's folder, which may have placeholders: it runs in a folder of its own, and only that is kept; none: nothing but its standard output", set: setOutputs},
	{Name: "inputs", Arg: "PATTERN", Many: true, Usage: "what a task needs from the job's folder beside the files that its command names, which may have placeholders; matters only on hosts that do not share a file system", set: setInputs},
	{Name: "after", Arg: "JOB", Many: true, Usage: "begin when these jobs are done, ids or numbers, separated by commas; if one of them fails this one fails, too", set: setAfter},
	{Name: "joblog", Arg: "FILE", Usage: "write a line for each attempt, in GNU parallel's columns, to this file; folders are made",
		set: bagValue(joblog, func(b *job.BagSpec) *string { return &b.Joblog })},
}

// bagValue sets a field of the bag to what a parser makes of the value.
func bagValue[T any](parse func(where, value string) (T, error), field func(*job.BagSpec) *T) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) error {
		v, err := parse(where, value)
		a.bag = append(a.bag, func(b *job.BagSpec) { *field(b) = v })
		return err
	}
}

func setOutputs(a *Ask, _, value string) error {
	a.bag = append(a.bag, func(b *job.BagSpec) { b.Outputs = append(b.Outputs, value) })
	return nil
}

func setInputs(a *Ask, _, value string) error {
	a.bag = append(a.bag, func(b *job.BagSpec) { b.Inputs = append(b.Inputs, value) })
	return nil
}

func joblog(where, value string) (string, error) {
	if value == "-" {
		return "", job.ArgumentError(where, "standard output cannot take the log: the coordinator writes it, also when this command is gone",
			"name a file, or ./- for one that is called -")
	}
	return value, nil
}

func setAfter(a *Ask, where, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return job.ArgumentError(where, fmt.Sprintf("%q names no job in one place", value), "write ids or numbers of jobs: bag-3,bag-4")
		}
		if id := job.ID(name); !slices.Contains(a.after, id) {
			a.after = append(a.after, id)
		}
	}
	return nil
}

func setEachLine(a *Ask, where, value string) error {
	a.Sources.EachLine, a.Sources.Where = value, where
	return nil
}

func setColsep(a *Ask, where, value string) error {
	separator, err := regexp.Compile(value)
	if err != nil || value == "" {
		return job.ArgumentError(where, fmt.Sprintf("%q is no regular expression that could separate columns", value), "write , or \\t, and a backslash before characters like | and .")
	}
	a.Sources.Columns = separator
	return nil
}

func setArray(a *Ask, where, value string) error {
	indices, err := Array(where, value)
	a.Sources.Array, a.Sources.Where = &indices, where
	return err
}
