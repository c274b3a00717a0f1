package parse

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// BagOptions returns the options that only a bag has, in addition to Options, in the order in
// which the help text lists them.
func BagOptions() []Option { return bagOptions }

var bagOptions = slices.Concat(entryOptions[:], needOptions(), ownOptions[:])

// entryOptions say where entries come from.
var entryOptions = [...]Option{
	{Name: "each-line", Alone: true, Arg: "FILE", Usage: "run the command once for each line of a file (- is standard input)", set: setEachLine},
	{Name: "array", Alone: true, Short: "a", Arg: "INDICES", Usage: "run the command once for each index, as in 1-10, 0-10:2 or 1,5-8; a final %N runs at most N tasks at the same time", set: setArray},
	{Name: "null", Alone: true, Short: "0", Usage: "entries of files end with a NUL character instead of a line end", set: into(Bool, func(a *Ask) *bool { return &a.Sources.Null })},
	{Name: "colsep", Alone: true, Arg: "REGEXP", Usage: "regular expression that separates the columns {1}, {2} … of an entry, as in , or '\\t'; white space around a column is removed", set: setColsep},
	{Name: "no-run-if-empty", Alone: true, Short: "r", Usage: "skip empty entries; it is no error if no entry is left", set: into(Bool, func(a *Ask) *bool { return &a.Sources.SkipEmpty })},
}

var ownOptions = [...]Option{
	{Name: "placeholder", Alone: true, Short: "I", Arg: "STR", Usage: "text that the entry replaces in the command, in the place of {} and those like it, which stay as they are",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.Placeholder })},
	{Name: "append", Alone: true, Usage: "a command without a placeholder gets the entry as its last argument also if it is several commands for the shell, of which the last one gets it",
		set: into(Bool, func(a *Ask) *bool { return &a.Sources.Append })},
	{Name: "open", Alone: true, Usage: "add tasks later (berth add), until the bag is closed (berth close); print its id and do not wait", set: bagValue(Bool, func(b *job.BagSpec) *bool { return &b.Open })},
	{Name: "shell", Alone: true, Arg: "SHELL", Usage: "shell that runs a command of one word, or the entries if the command is {}: a name or a path (default: $SHELL if it is bash or zsh, else /bin/sh)",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.ShellProgram })},
	{Name: "retries", Arg: "N", Limit: true, Usage: "number of further attempts after a task failed (default 0)",
		set: bagValue(from(0, math.MaxInt16), func(b *job.BagSpec) *int { return &b.Retries })},
	{Name: "max-fails", Arg: "N", Limit: true, Usage: "stop the job when more tasks than this have failed (default: never)",
		set: bagValue(from(-1, math.MaxInt32), func(b *job.BagSpec) *int { return &b.MaxFails })},
	{Name: "throttle", Arg: "N", Limit: true, Usage: "largest number of tasks that run at the same time",
		set: bagValue(from(0, math.MaxInt32), func(b *job.BagSpec) *int { return &b.Throttle })},
	{Name: "duplicates-ok", Alone: true, Limit: true, Usage: "allow two attempts of a task at the same time, so that berth can duplicate slow tasks",
		set: bagValue(Bool, func(b *job.BagSpec) *bool { return &b.DuplicatesOK })},
	{Name: "time-limit", Arg: "TIME", Limit: true, Usage: "kill an attempt that runs longer than this; a number without a unit is minutes; 10m..2h: its task starts again with twice as much, up to 2h", set: setTimeLimit},
	{Name: "limit-address-space", Limit: true, Usage: "let no process of a task have more virtual memory than --mem, so that one that asks for more fails at once; without it berth measures five times a second what a task uses",
		set: bagValue(Bool, func(b *job.BagSpec) *bool { return &b.AddressSpace })},
	{Name: "signal", Alone: true, Arg: "NAME[@TIME]", Limit: true, Usage: "send the task this signal so long before its time is over, by the end of its allocation or by --time-limit, as in USR1@120s; a number without a unit is seconds (default: no signal; without a time 60s)", set: setSignal},
	{Name: "requeue-exit", Alone: true, Arg: "N", Limit: true, Usage: "a task that ends with this exit status is not done and starts again, in another allocation if the time of its own is nearly over; it has not failed, and this is no retry",
		set: bagValue(from(1, 255), func(b *job.BagSpec) *int { return &b.RequeueExit })},
	{Name: "outdir", Arg: "DIR", Usage: "folder for the standard output and error of tasks, in which each job has a folder of its own (default: the job's folder)",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.OutDir })},
	{Name: "stdout", Arg: "TEMPLATE", Usage: "file for the standard output of each task (default " + job.DefaultStdout + "); none discards it; collect writes the output of all tasks into a few files, which is the default above " + strconv.Itoa(job.ManyTasks) + " tasks",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.Stdout })},
	{Name: "stderr", Arg: "TEMPLATE", Usage: "file for the standard error of each task (default " + job.DefaultStderr + "); none and collect as with --stdout",
		set: bagValue(asIs, func(b *job.BagSpec) *string { return &b.Stderr })},
	{Name: "outputs", Alone: true, Arg: "PATTERN", Many: true, Usage: "files that a task writes into the job's folder; placeholders are allowed; each task then runs in a folder of its own, and only these files are kept; none: only its standard output is kept", set: setOutputs},
	{Name: "inputs", Alone: true, Arg: "PATTERN", Many: true, Usage: "files of the job's folder that a task reads, in addition to those that its command names; placeholders are allowed; needed only on hosts that do not share a file system", set: setInputs},
	{Name: "progress", Arg: "SOURCE", Limit: true, Usage: "what the progress of tasks is measured by: input, instructions, io, cpu, hits (entries of functions, for which the program is changed while it runs), or auto for the best that leaves the program alone (default auto)",
		set: bagValue(Progress, func(b *job.BagSpec) *string { return &b.Progress })},
	{Name: "after", Alone: true, Arg: "JOB", Many: true, Usage: "start when these jobs are done (ids or numbers, separated by commas); if one of them fails, this job fails too", set: setAfter},
	{Name: "joblog", Arg: "FILE", Usage: "write one line for each attempt to this file, in the columns of GNU parallel; missing folders are created",
		set: bagValue(joblog, func(b *job.BagSpec) *string { return &b.Joblog })},
}

// CommandOption is the option with which a bag that is over goes on with another command.
var CommandOption = Option{Name: "command", Arg: "COMMAND", Limit: true, Usage: "command for the tasks that are not done, in a single word, as in './fit.py --tolerance 0.1 {}'",
	set: into(asIs, func(a *Ask) *string { return &a.command })}

// EntryOptions returns those of BagOptions that say where entries come from, and what their tasks need.
func EntryOptions() []Option { return bagOptions[:len(entryOptions)+len(needColumns)] }

// bagValue returns a setter that parses the value and stores the result in a field of the bag.
func bagValue[T any](parse func(where, value string) (T, error), field func(*job.BagSpec) *T) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) error {
		v, err := parse(where, value)
		a.bag = append(a.bag, func(b *job.BagSpec) { *field(b) = v })
		return err
	}
}

// Progress checks the name of a source of progress.
func Progress(where, value string) (string, error) {
	if _, err := job.ProgressNamed(value); err != nil || value == "" {
		return "", job.ArgumentError(where, fmt.Sprintf("%q is not a source of progress", value), "use auto, input, instructions, io, cpu or hits")
	}
	return value, nil
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
		return "", job.ArgumentError(where, "the job log cannot go to standard output: the coordinator writes it, even after this command has ended",
			"name a file; write ./- if its name is -")
	}
	return value, nil
}

func setAfter(a *Ask, where, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return job.ArgumentError(where, fmt.Sprintf("%q has an empty name of a job", value), "write ids or numbers of jobs, as in bag-3,bag-4")
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
		return job.ArgumentError(where, fmt.Sprintf("%q is not a regular expression that can separate columns", value), "write , or \\t, and put a backslash before characters like | and .")
	}
	a.Sources.Columns = separator
	return nil
}

func setArray(a *Ask, where, value string) error {
	indices, err := Array(where, value)
	a.Sources.Array, a.Sources.Where = &indices, where
	return err
}
