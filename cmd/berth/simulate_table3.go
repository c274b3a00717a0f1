package main

import (
	"github.com/spf13/cobra"

	"berth/internal/simulate"
)

func newSimulateTable3() *cobra.Command {
	return experiment(simulate.Table3(), &cobra.Command{
		Use: "table3 TRACE", Short: "The adaptor beside naive requests, with HPC jobs of a log", Args: oneLog,
		Long: `Simulate the paper's table 3: the HPC jobs of one day of a log in the Standard Workload
Format (SDSC SP2 in the paper), 1,000 MapReduce jobs, and both. The paper does not say
which day: auto is the one on which the HPC jobs alone come nearest to the turnaround and
utilization that it reports.`,
		Example: "  berth simulate table3 SDSC-SP2-1998-4.2-cln.swf.gz\n  berth simulate table3 log.swf --nodes 256 --day 17",
	})
}
