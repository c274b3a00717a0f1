package command

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/compat/streaming"
	"berth/internal/show/ui"
)

// then is what is done with a job that was asked for: submit, dryRun or planFront.then.
type then func(cmd *cobra.Command, j *cli.Job, detach bool) error

func newMapReduce(do then) *cobra.Command {
	c := command("mapreduce", nil, func(cmd *cobra.Command, args []string) error {
		return mapReduce(cmd, args, false, do)
	})
	c.Aliases, c.DisableFlagParsing = []string{"mr"}, true                   // Hadoop's flags are no POSIX flags
	c.Flags().Bool(hadoopMessages, false, "show the job as hadoop jar does") // set by mapReduce, as the flags are not parsed
	return c
}

// warn prints what the user of a job should mend.
func warn(cmd *cobra.Command, warnings []string) {
	for _, w := range warnings {
		_ = ui.Say(cmd.ErrOrStderr(), "berth: warning: %s", w)
	}
}

// mapReduce does what is to be done with the job of a command line of Hadoop Streaming. hadoop says that it is shown as hadoop jar does in any case.
func mapReduce(cmd *cobra.Command, args []string, hadoop bool, do then) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	r, err := streaming.Parse(args, dir, os.Environ())
	if err != nil {
		return err
	}
	if r.Help {
		return streamingHelp(cmd, r.Info)
	}
	warn(cmd, r.Warnings)
	if r.Verbose {
		for _, n := range r.Notes {
			_ = ui.Say(cmd.ErrOrStderr(), "berth: %s", n)
		}
	}
	if r.JSON {
		if err := cmd.Root().PersistentFlags().Set("json", "true"); err != nil {
			return err
		}
	}
	if hadoop || r.HadoopMessages {
		if err := cmd.Flags().Set(hadoopMessages, "true"); err != nil {
			return err
		}
	}
	return do(cmd, &cli.Job{Spec: r.Spec}, r.Detach)
}

func streamingHelp(cmd *cobra.Command, info bool) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nFlags:\n", cmd.Long, cmd.UseLine(), cmd.Example)
	for _, f := range streaming.Flags() {
		fmt.Fprintf(w, "  %s\t%s\n", f.Usage(), f.Meaning)
	}
	if info {
		fmt.Fprintf(w, "\nKeys (-D KEY=VALUE):\n")
		for _, k := range streaming.Keys() {
			fmt.Fprintf(w, "  %s\t%s\n", k.Name, k.Meaning)
		}
	}
	return w.Flush()
}
