package command

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// thenLines is what is done with a bag whose tasks are lines.
type thenLines func(cmd *cobra.Command, spec *job.Spec, in *cli.Lines, detach bool) error

// bagOfLines reads the lines of a bag and does of with them.
func bagOfLines(cmd *cobra.Command, opts *cli.BagOptions, file string, args []string, of thenLines, detach bool) error {
	if err := checkResults(cmd, job.Bag, detach); err != nil {
		return err
	}
	if ungrouped(cmd) {
		return job.ArgumentError("--ungroup", "what tasks in lines print is kept", "remove it; --group and --keep-order print it")
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	if opts.Lines, err = cli.ReadLines(file, cmd.InOrStdin()); err != nil {
		return err
	}
	spec, _, err := opts.Spec(dir, args, nil)
	if err != nil {
		return err
	}
	warn(cmd, cli.Warnings(spec.Bag))
	return of(cmd, spec, opts.Lines, detach)
}

// dryRunLines prints the commands of tasks in lines.
func dryRunLines(cmd *cobra.Command, spec *job.Spec, in *cli.Lines, _ bool) error {
	commands := make([]string, len(in.Tasks))
	for i := range in.Tasks {
		own, e := in.Tasks[i].Apply(spec)
		commands[i] = own.Bag.CommandLine(e, i)
	}
	return show(cmd, commands, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(commands, "\n")+"\n")
		return err
	})
}

// submitLines submits a bag together with its tasks, so that no bag is left without them if this command is killed.
func submitLines(cmd *cobra.Command, spec *job.Spec, in *cli.Lines, detach bool) error {
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	if err := nameAfter(cmd.Context(), h, spec); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	first := control.Add{From: in.From, Tasks: in.Texts, Key: rand.Text()} // with a key, as the call is repeated if a coordinator dies
	r, err := hand(ctx, h, spec, nil, handed{with: control.Submit{First: &first, Close: !in.Open}})
	if err != nil {
		return err
	}
	cmd.SetContext(ctx)
	return finish(cmd, h, r, detach || in.Open, report.JobView{})
}
