package command

import (
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/command/simulation"
	"berth/internal/simulate/workload/sacct"
)

// newSimulate has one command under it. The experiments that it once had, too, are the laboratory's.
func newSimulate() *cobra.Command {
	return group(command("simulate", nil, nil), newSimulateRun())
}

func newSimulateRun() *cobra.Command {
	var o simulation.Scenario
	c := command("simulate run", atMostOneScenario, func(cmd *cobra.Command, args []string) error { return o.Run(cmd.Context(), Console(cmd), args) })
	c.Long = strings.ReplaceAll(c.Long, "{sacct}", sacct.Command)
	o.Register(c.Flags())
	return c
}

// Console is what a command reads from and writes to.
func Console(cmd *cobra.Command) simulation.Console {
	return simulation.Console{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), JSON: wantJSON(cmd)}
}
