// Package commands has the commands of berth-lab: the papers' tables and figures simulated again, logs of clusters
// replayed, and comparisons of schedulers and of rules on slow tasks. A command registers its flags, reads its input,
// shows the progress, and writes the results to the terminal and to files. Packages sim and evaluate simulate.
package commands

import (
	"github.com/spf13/cobra"

	"berth/internal/command"
	"berth/internal/server/leader"
	"berth/lab/rules"
	"berth/lab/schedulers"
)

// Extra returns what berth-lab adds to the command line of berth.
func Extra() command.Extra {
	return command.Extra{
		Name:     "berth-lab",
		Commands: []*cobra.Command{newSWF(), newTable2(), newTable3(), newFig3(), newFig4(), newVariants(), newPhases(), newStragglers(), newDeadlines(), newMemory(), newStarts(), newPaperFront()},
		Policies: leader.Policies{Schedulers: schedulers.Others(), Rules: rules.Others()},
	}
}

// experiment gives the command of an experiment its flags and what it does.
func experiment(e *Experiment, c *cobra.Command) *cobra.Command {
	e.Register(c.Flags())
	if c.Args == nil {
		c.Args = command.NoArguments
	}
	c.RunE = func(cmd *cobra.Command, args []string) error { return e.Run(cmd.Context(), command.Console(cmd), args) }
	return c
}
