package command

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/plan"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newPlan() *cobra.Command {
	var f, ofFile planFront
	bag := newBag("bag", f.then)
	f.register(bag.Flags())
	file := newRun(ofFile.then)
	ofFile.register(file.Flags())
	bag.PreRun = func(*cobra.Command, []string) { thrifty() }
	return group(command("plan", nil, nil), planMapReduce(), bag, file)
}

// planOnly tells what would be done with a job.
func planOnly(cmd *cobra.Command, j *cli.Job) error {
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	d, err := rundir.Decide(cmd.Context(), h, j.Spec, j.Entries, held(cmd.Context(), h))
	if err != nil {
		return err
	}
	d.Plan.Notes = append(d.Plan.Notes, d.Elsewhere()...)
	return showPlan(cmd, d.Plan)
}

func showPlan(cmd *cobra.Command, p plan.Plan) error {
	p.Curves, p.Memory, p.Which = nil, nil, nil // hundreds of numbers that tell a reader nothing
	return Show(cmd, p, func(w io.Writer) error { return ui.Plan(ui.ForTerminal(w), p, ui.StyleOf(w, os.Getenv)) })
}
