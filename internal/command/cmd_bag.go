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

// newBag makes a command that does something with a bag: do if its tasks are entries, and of if they are lines. nil: lines are refused.
func newBag(do then, of thenLines) *cobra.Command {
	opts := cli.BagOptions{Env: os.Environ()}
	var detach, dry bool
	var tasks string
	c := &cobra.Command{
		Use: "bag [FLAG...] [--] COMMAND [ARG...] [::: VALUE...]", DisableFlagsInUseLine: true,
		Short: "Run a command once for each line, index or value",
		Long: `Run a command once for each entry: a line of a file or of standard input, an index of
an array, or a value of ::: lists. {} in the command is replaced by the entry. Without {} a line or
value becomes the last argument of the command, if it is a single one, and an index is
only in $BERTH_ENTRY and the variable of the batch system,
$` + registry.Each(func(w driver.BatchWords) string { return w.Variables.Index }) + `. If the whole command is {}, the shell
runs each entry as a command. The output of each task goes into files of its own. Exit code: 0, the number of
failed tasks up to 100, 101 for more, 102 if it did not start in time, 255 for an error of berth's own.`,
		Example: `  berth bag --each-line files.txt -- gzip -k {}
  berth bag --array 1-1000%50 -- ./simulate --seed {}
  ls *.png | berth bag -- convert {} {.}.jpg
  berth bag --each-line commands.txt -- {}
  berth bag --tasks tasks.jsonl
  berth bag --open -- ./fit.py {}
  berth bag -c 4 --mem 8G --retries 2 -- ./fit {1} {2} ::: a b c ::: 10 20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dry {
				do, of = dryRun, dryRunLines
			}
			if tasks != "" {
				return kindError(job.Bag, bagOfLines(cmd, &opts, tasks, args, of, detach))
			}
			return kindError(job.Bag, bag(cmd, &opts, args, do, detach))
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return kindError(job.Bag, flagError(c, err)) })
	c.SetUsageFunc(groupedUsage)
	c.Flags().SetInterspersed(false) // flags after the command belong to the command
	opts.Register(c.Flags())
	if of != nil {
		c.Flags().StringVar(&tasks, "tasks", "", "file with a task on each line, as a JSON object, in the place of entries (- is standard input)")
	}
	c.Flags().BoolVar(&detach, "detach", false, "print the id of the job and do not wait for its end")
	addResultFlags(c.Flags())
	c.Flags().BoolP("ungroup", "u", false, "print the output of all tasks at once, while they write it, and keep no files of it; local only")
	c.Flags().BoolVar(&dry, "dry-run", false, "print the commands of all tasks without running them")
	return c
}

// dryRun prints the commands of a bag.
func dryRun(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, _ bool) error {
	commands := make([]string, len(entries))
	for i, e := range entries {
		commands[i] = spec.Bag.CommandLine(e, i)
	}
	return show(cmd, commands, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(commands, "\n")+"\n")
		return err
	})
}

func bag(cmd *cobra.Command, opts *cli.BagOptions, args []string, do then, detach bool) error {
	if err := checkResults(cmd, job.Bag, detach); err != nil {
		return err
	}
	if ungrouped(cmd) && (cmd.Flags().Changed("stdout") || cmd.Flags().Changed("stderr")) {
		return job.ArgumentError("--ungroup", "the output of tasks goes to standard output, not to files", "remove --stdout and --stderr, or --ungroup")
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	spec, entries, err := opts.Spec(dir, args, piped(cmd))
	if err != nil {
		return err
	}
	warn(cmd, append(cli.Warnings(spec.Bag), opts.Notes...))
	if spec.Bag.Open && ungrouped(cmd) {
		return job.ArgumentError("--ungroup", "this command does not stay to print what the tasks of an open bag print", "remove it; berth cat prints their output")
	}
	if spec.Bag.Open {
		return do(cmd, spec, entries, true)
	}
	if len(entries) == 0 { // --no-run-if-empty
		_ = ui.Say(cmd.ErrOrStderr(), "berth: no entries: nothing to do")
		return nil
	}
	if spec.Bag.Ungroup = ungrouped(cmd); spec.Bag.Ungroup {
		spec.Bag.Collect = false
	}
	return do(cmd, spec, entries, detach)
}

// piped returns standard input where it is not a terminal.
func piped(cmd *cobra.Command) io.Reader {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return cmd.InOrStdin()
}
