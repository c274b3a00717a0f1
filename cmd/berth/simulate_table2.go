package main

import (
	"github.com/spf13/cobra"

	"berth/internal/simulate"
)

func newSimulateTable2() *cobra.Command {
	return experiment(simulate.Table2(), &cobra.Command{
		Use: "table2", Short: "The adaptor beside naive requests, with HPC jobs of a model",
		Long: `Simulate the paper's table 2: one hour of HPC jobs (Lublin and Feitelson's model, peak
hour), one hour of MapReduce jobs (Facebook mix), and both, on 128 nodes with conservative
backfilling. Mean turnaround and utilization, HPC and MapReduce jobs apart, with the paper's
figures beneath. All adaptors get the same jobs; simulations are replicated until every
mean is known within the precision.`,
		Example: "  berth simulate table2\n  berth simulate table2 --max-time 2h,6h,18h --csv limits.csv\n" +
			"  berth simulate table2 --hpc-types typed --hpc-jobs 400 --adaptors naive,paper,shortest --json",
	})
}
