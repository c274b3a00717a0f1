package command

import (
	"github.com/spf13/cobra"

	"berth/internal/command/simulation"
)

func newSimulate() *cobra.Command {
	c := &cobra.Command{
		Use: "simulate", Short: "Simulate batch systems, workloads and the decisions of berth",
		Long: `Simulate batch systems, workloads and the decisions of berth in virtual time. The code that
decides is the code that real jobs use; only nodes, tasks and the clock are simulated. The
same command gives the same result, to the byte, on any machine; only wall_s, how long
the simulation took, differs.`,
		Example: "  berth simulate swf SDSC-SP2-1998-4.2-cln.swf.gz --filter --policy cbf\n" +
			"  berth simulate swf log.swf --nodes 256 --policy easy --out jobs.csv --json",
	}
	c.AddCommand(newSimulateSWF(), newSimulateRun(), newSimulateTable2(), newSimulateTable3(), newSimulateFig3(), newSimulateFig4(), newSimulateVariants(), newSimulatePhases(), newSimulateStragglers())
	return group(c)
}

// console is what the command reads from and writes to.
func console(cmd *cobra.Command) simulation.Console {
	return simulation.Console{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), JSON: wantJSON(cmd)}
}

// experiment gives the command of an experiment its flags and what it does.
func experiment(e *simulation.Experiment, c *cobra.Command) *cobra.Command {
	e.Register(c.Flags())
	if c.Args == nil {
		c.Args = noArguments
	}
	c.RunE = func(cmd *cobra.Command, args []string) error { return e.Run(cmd.Context(), console(cmd), args) }
	return c
}
