package command

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/show/results"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// addResultFlags adds the flags that have a command print what the tasks of a bag wrote.
func addResultFlags(fs *pflag.FlagSet) {
	addFlags(fs, &struct {
		Group     bool `flag:"group" usage:"print the output of each task when the task has ended"`
		KeepOrder bool `flag:"keep-order,k" usage:"print the output of the tasks in the order of the entries"`
		Tag       bool `flag:"tag" usage:"print the output of the tasks; start each line with the entry of its task and a tab"`
	}{})
}

// resultsWanted returns how the command is to print what tasks wrote; ok is false where it is not.
func resultsWanted(cmd *cobra.Command) (o results.Options, ok bool) {
	o = results.Options{InOrder: is(cmd, "keep-order"), Tag: is(cmd, "tag")}
	return o, o.InOrder || o.Tag || is(cmd, "group")
}

// ungrouped reports whether tasks are to write straight to the command's own output.
func ungrouped(cmd *cobra.Command) bool { return is(cmd, "ungroup") }

// checkResults refuses flags that do not go together with printing results.
func checkResults(cmd *cobra.Command, kind job.Kind, detach bool) error {
	_, wanted := resultsWanted(cmd)
	switch {
	case !wanted && !ungrouped(cmd):
		return nil
	case wanted && ungrouped(cmd):
		return job.ArgumentError("--ungroup", "it prints what tasks write while they write it, and another flag what each wrote when it is over", "keep one of them")
	case kind != job.Bag:
		return job.ArgumentError("", "--group, --keep-order, --tag and --ungroup print what the tasks of a bag wrote, and this is none", "print a job's output with: berth cat JOB")
	case detach:
		return job.ArgumentError("--detach", "the command would not stay to print what tasks write", "print it later with: berth wait --keep-order, or berth cat")
	case wantJSON(cmd):
		return job.ArgumentError("--json", "standard output cannot take the result as JSON and what tasks write", "keep one of them")
	}
	return nil
}

// printing is a console that prints what tasks wrote as well.
type printing struct {
	ui.Console
	follower *results.Follower
	err      error // of printing
}

// withResults has a console print what the tasks of a run wrote, where the command was asked to.
func withResults(cmd *cobra.Command, r statedir.Run, c ui.Console) (*printing, error) {
	p := &printing{Console: c}
	o, wanted := resultsWanted(cmd)
	if !wanted {
		return p, nil
	}
	spec, tasks, err := r.Load()
	if err != nil {
		return nil, err
	}
	if err := checkResults(cmd, spec.Kind, false); err != nil {
		return nil, err
	}
	printer := results.NewPrinter(spec, tasks, o)
	printer.Out, printer.Err = os.Stdout, os.Stderr
	p.follower, err = results.Follow(r, printer)
	return p, err
}

// Update shows the job as it is, and prints what has ended.
func (p *printing) Update(v report.JobView) {
	p.Console.Update(v)
	if p.follower != nil && p.err == nil {
		p.err = p.follower.Look()
	}
}

// End prints what is left, and shows the job for the last time.
func (p *printing) End(v report.JobView) {
	if p.follower != nil && p.err == nil {
		p.err = p.follower.End()
	}
	p.Console.End(v)
}
