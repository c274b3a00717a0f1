package commands

import (
	"github.com/spf13/cobra"

	"berth/internal/command"
)

const stragglersLong = `Simulate bags of tasks on nodes some of which become slow for a while, under each rule on
slow tasks. Jobs are like Cap3 and like the Gaussian blur of the paper NO²: tasks count
while they run, in some stretches a lot and in others hardly anything, and a rule sees only
these counts. One task in a hundred (of 1,000 tasks and more: in two hundred) meets a node
that makes it take about twice as long; on one in twenty of these it hangs.

What decides is the engine with the rule that decides when jobs run for real. All rules
have the same tasks and the same slow nodes. The output has the mean and the worst
completion time, the extra processor time, and the numbers of all and of useless duplicates;
lab/results/stragglers.md says more.`

func newStragglers() *cobra.Command {
	var o Stragglers
	c := &cobra.Command{
		Use: "stragglers", Short: "Rules on slow tasks beside each other, on nodes that become slow for a while", Args: command.NoArguments, Long: stragglersLong,
		Example: "  berth-lab stragglers\n  berth-lab stragglers --job cap3 --tasks 100 --rule nothing,paper,berth\n" +
			"  berth-lab stragglers --rule paper:0.05,paper:0.1,paper-abort:0.1 --place cloud --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context(), command.Console(cmd)) },
	}
	o.Register(c.Flags())
	return c
}
