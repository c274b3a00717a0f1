package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"berth/internal/command/cli"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/show/ui"
)

// newBag makes a command that does something with a bag.
func newBag(name string, do then) *cobra.Command {
	opts := cli.BagOptions{Env: os.Environ()}
	var tasks string
	var o struct {
		Detach  bool `flag:"detach" usage:"print the id of the job and do not wait for its end"`
		Ungroup bool `flag:"ungroup,u" usage:"print the output of all tasks at once, while they write it, and keep no files of it; local only"`
		Dry     bool `flag:"dry-run" usage:"print the commands of all tasks without running them"`
	}
	c := command(name, nil, func(cmd *cobra.Command, args []string) error {
		if o.Dry {
			do = dryRun
		}
		return kindError(job.Bag, bag(cmd, &opts, tasks, args, do, o.Detach))
	})
	c.Long = strings.ReplaceAll(c.Long, "{index}", registry.Each(func(w driver.BatchWords) string { return w.Variables.Index }))
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return kindError(job.Bag, flagError(c, err)) })
	c.SetUsageFunc(groupedUsage)
	c.Flags().SetInterspersed(false) // flags after the command belong to the command
	opts.Register(c.Flags())
	if name == "bag" {
		c.Flags().StringVar(&tasks, "tasks", "", "file with a task on each line, as a JSON object, in the place of entries (- is standard input)")
	}
	addFlags(c.Flags(), &o)
	addResultFlags(c.Flags())
	return c
}

// dryRun prints the commands of a bag.
func dryRun(cmd *cobra.Command, j *cli.Job, _ bool) error {
	var commands []string
	for i, e := range j.Entries {
		commands = append(commands, j.Spec.Bag.CommandLine(e, i))
	}
	if j.Lines != nil {
		for i := range j.Lines.Tasks {
			own, e := j.Lines.Tasks[i].Apply(j.Spec)
			commands = append(commands, own.Bag.CommandLine(e, i))
		}
	}
	return Show(cmd, append([]string{}, commands...), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(commands, "\n")+"\n")
		return err
	})
}

// bag reads the entries or lines of a bag and does something with it.
func bag(cmd *cobra.Command, opts *cli.BagOptions, tasks string, args []string, do then, detach bool) error {
	if err := checkResults(cmd, job.Bag, detach); err != nil {
		return err
	}
	switch alone := ungrouped(cmd); {
	case alone && tasks != "":
		return job.ArgumentError("--ungroup", "what tasks in lines print is kept", "remove it; --group and --keep-order print it")
	case alone && (cmd.Flags().Changed("stdout") || cmd.Flags().Changed("stderr")):
		return job.ArgumentError("--ungroup", "the output of tasks goes to standard output, not to files", "remove --stdout and --stderr, or --ungroup")
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	stdin := piped(cmd)
	if tasks != "" {
		stdin = nil
		if opts.Lines, err = cli.ReadLines(tasks, cmd.InOrStdin()); err != nil {
			return err
		}
	}
	spec, entries, err := opts.Spec(dir, args, stdin)
	if err != nil {
		return err
	}
	warn(cmd, append(cli.Warnings(spec), opts.Notes...))
	b := spec.Bag
	switch b.Ungroup = ungrouped(cmd); {
	case opts.Lines != nil:
	case b.Open && b.Ungroup:
		return job.ArgumentError("--ungroup", "this command does not stay to print what the tasks of an open bag print", "remove it; berth cat prints their output")
	case b.Open:
		detach = true
	case len(entries) == 0: // --no-run-if-empty
		_ = ui.Say(cmd.ErrOrStderr(), "berth: no entries: nothing to do")
		return nil
	}
	b.Collect = b.Collect && !b.Ungroup
	return do(cmd, &cli.Job{Spec: spec, Entries: entries, Lines: opts.Lines}, detach)
}

// piped returns standard input where it is not a terminal.
func piped(cmd *cobra.Command) io.Reader {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return cmd.InOrStdin()
}
