package main

import (
	"github.com/spf13/cobra"

	"berth/internal/simulate"
)

func newSimulateFig4() *cobra.Command {
	return experiment(simulate.Fig4(), &cobra.Command{
		Use: "fig4", Short: "The adaptor beside naive requests, under other loads",
		Long: `Simulate the paper's figure 4: HPC and MapReduce jobs as in table 2, (a) with HPC jobs more
or less often, by the shape of the gamma distribution between them, and (b) with MapReduce
jobs more or less often.`,
		Example: "  berth simulate fig4 --svg fig4.svg\n  berth simulate fig4 --shapes 4,10.23,60 --mr-interarrivals 7s,14s,60s --json",
	})
}
