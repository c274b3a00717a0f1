package command

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"berth/internal/compat/streaming"
	"berth/internal/core/job"
	"berth/internal/show/ui"
)

// then is what is done with a job that was asked for: submit or planOnly.
type then func(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, detach bool) error

func newMapReduce(do then) *cobra.Command {
	c := &cobra.Command{
		Use: "mapreduce -input PATHS -output DIR -mapper CMD [-reducer CMD] [FLAG...]", Aliases: []string{"mr"}, DisableFlagsInUseLine: true,
		Short: "Run a MapReduce job with Hadoop Streaming's flags",
		Long: `Run a MapReduce job: any program that reads lines and writes lines is a mapper or a
reducer. Flags, keys and protocol are those of Hadoop Streaming;
-info lists them. Exit code: 0 done, 1 failed or bad arguments, 2 no input, 3 bad
configuration, 4 the output exists, 5 input or output failed, 6 interrupted, 7 not started in
time (--start-within).`,
		Example: `  berth mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py
  berth mapreduce -input 'logs/*.gz' -output hosts -mapper 'cut -f1' -combiner ./sum -reducer ./sum -numReduceTasks 4`,
		DisableFlagParsing: true, // Hadoop's flags are no POSIX flags
		RunE: func(cmd *cobra.Command, args []string) error {
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
			return mapReduce(cmd, r, do)
		},
	}
	c.Flags().Bool(hadoopMessages, false, "show the job as hadoop jar does") // set by mapReduce, as the flags are not parsed
	return c
}

// warn prints what the user of a job should mend.
func warn(cmd *cobra.Command, warnings []string) {
	for _, w := range warnings {
		_ = ui.Say(cmd.ErrOrStderr(), "berth: warning: %s", w)
	}
}

// mapReduce does what is to be done with a parsed job.
func mapReduce(cmd *cobra.Command, r *streaming.Result, do then) error {
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
	if r.HadoopMessages {
		if err := cmd.Flags().Set(hadoopMessages, "true"); err != nil {
			return err
		}
	}
	return do(cmd, r.Spec, nil, r.Detach)
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
