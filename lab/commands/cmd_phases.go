package commands

import (
	"github.com/spf13/cobra"

	"berth/internal/command"
)

const phasesLong = `Simulate jobs whose phases contend for the cores, disks and networks of their nodes, under
each scheduler that a coordinator can have (berth server start --scheduler). Workloads are
the sort of 5 GB on 3 nodes of the paper on phase-level scheduling, its two series of batches
of 50 to 200 jobs that are submitted at once on 10 such nodes, drawn from jobs of PUMA and
of Gridmix, and batches of all of them on clusters of two kinds of nodes. All schedulers get the same jobs.

The output has the mean completion time of jobs, the makespan, what share of each resource was
used, the share of maps that ran where their data was, how far jobs fell behind their fair
shares, and energy; lab/experiments.md says how each is found.`

func newPhases() *cobra.Command {
	var o Phases
	c := &cobra.Command{
		Use: "phases", Short: "Schedulers of phases beside each other, on nodes whose resources phases contend for", Args: command.NoArguments, Long: phasesLong,
		Example: "  berth-lab phases\n  berth-lab phases --workload sort-5g,puma-50 --scheduler slots,phases\n" +
			"  berth-lab phases --replications 20 --seed 7 --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context(), command.Console(cmd)) },
	}
	o.Register(c.Flags())
	return c
}
