package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/run"
	"berth/internal/ui"
)

func newPlan() *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "Decide how a job would run, and run nothing",
		Long: `Decide how a job would run: on how many workers, with how much memory, and for how
long. The prediction comes from the profile that earlier runs of the same programs
left; without one it says so. On a batch system the queue is drawn, with every way to go
that was weighed and why it lost. Arguments are those of the command that would run it.`,
		Example: "  berth plan mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py\n" +
			"  berth plan bag --each-line files.txt -- gzip -k {}\n  berth plan run job.toml --json",
	}
	var f, ofFile planFront
	bag := newBag(f.then)
	f.register(bag.Flags())
	file := newRun(ofFile.then, ofFile.stages)
	ofFile.register(file.Flags())
	c.AddCommand(planMapReduce(), bag, file)
	return group(c)
}

// planOnly tells what would be done with a job.
func planOnly(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, _ bool) error {
	h, err := home.Open()
	if err != nil {
		return err
	}
	d, err := run.Decide(cmd.Context(), h, spec, entries, spare(cmd.Context(), h)...)
	if err != nil {
		return err
	}
	d.Plan.Curves = nil // hundreds of numbers that tell a reader nothing
	return show(cmd, d.Plan, func(w io.Writer) error { return ui.Plan(ui.ForTerminal(w), d.Plan, ui.StyleOf(w, os.Getenv)) })
}
