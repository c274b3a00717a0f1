package command

import (
	"github.com/spf13/cobra"

	"berth/internal/command/simulation"
	"berth/internal/simulate/workload/sacct"
)

const runLong = `Simulate a cluster and jobs of one's own: what does each way to bring MapReduce jobs and
bags of tasks there come to, for them and for everybody else? Ways are naive (as many
nodes as tasks, the longest time), paper (Algorithm 1 of "Scheduling MapReduce Jobs in HPC
Clusters"), berth (each job alone), shared (all of a user's jobs on the same allocations,
the shortest first) and yield (the same, and each allocation is given back with the job
that it was asked for), unless the scenario names others. The first line has the jobs of
others alone. All keys of scenarios are in docs/simulate.md.

What would berth have done for me? Jobs of others can be those of one's own cluster, from
--from-swf or from what Slurm's accounting prints:

  ` + sacct.Command + `

and a job of one's own is told by flags; --spread of them come evenly over that time. The
log is taken as it is: its jobs do not react to what the others do.

--out writes every job of every simulation to a file that ends with .csv, or else a
folder with run.txt, run.json, ways.csv and jobs.csv.`

// newSimulate has one command under it. The experiments that it once had, too, are the laboratory's.
func newSimulate() *cobra.Command {
	c := command("simulate", nil, nil)
	c.AddCommand(newSimulateRun())
	return group(c)
}

func newSimulateRun() *cobra.Command {
	var o simulation.Scenario
	c := &cobra.Command{
		Use: "run [SCENARIO.toml]", Short: "Simulate one's own cluster and jobs, under each way to run them", Args: atMostOneScenario, Long: runLong,
		Example: "  berth simulate run examples/simulate/peak-hour.toml\n" +
			"  sacct … | berth simulate run --from-sacct - --nodes 64 --maps 500 --map-time 60s±20s\n" +
			"  berth simulate run --from-swf log.swf.gz --filter --from 30d --for 7d \\\n    --maps 500 --map-time 60s --reduces 20 --reduce-time 2m",
		RunE: func(cmd *cobra.Command, args []string) error { return o.Run(cmd.Context(), Console(cmd), args) },
	}
	o.Register(c.Flags())
	return c
}

// Console is what a command reads from and writes to.
func Console(cmd *cobra.Command) simulation.Console {
	return simulation.Console{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), JSON: wantJSON(cmd)}
}
