package command

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newPlan() *cobra.Command {
	c := &cobra.Command{
		Use: "plan", Short: "Show how a job would run, without running it",
		Long: `Show how a job would run: the number of workers, their memory, and the predicted run
time. The prediction uses the profile of earlier runs of the same application; if there is
none, the plan says so. On a batch system, the plan draws the queue and lists every candidate
and why it was not chosen. The arguments are those of the command that would run the job.`,
		Example: "  berth plan mapreduce -input books -output counts -mapper ./map.py -reducer ./reduce.py\n" +
			"  berth plan bag --each-line files.txt -- gzip -k {}\n  berth plan run job.toml --json",
	}
	var f, ofFile planFront
	bag := newBag(f.then, f.lines)
	f.register(bag.Flags())
	file := newRun(ofFile.then, ofFile.lines, ofFile.stages)
	ofFile.register(file.Flags())
	c.AddCommand(planMapReduce(), bag, file)
	return group(c)
}

// planOnly tells what would be done with a job.
func planOnly(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, _ bool) error {
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	d, err := rundir.Decide(cmd.Context(), h, spec, entries, held(cmd.Context(), h))
	if err != nil {
		return err
	}
	return showPlan(cmd, d.Plan)
}

func showPlan(cmd *cobra.Command, p plan.Plan) error {
	p.Curves, p.Memory, p.Which = nil, nil, nil // hundreds of numbers that tell a reader nothing
	return show(cmd, p, func(w io.Writer) error { return ui.Plan(ui.ForTerminal(w), p, ui.StyleOf(w, os.Getenv)) })
}
