package main

import (
	"github.com/spf13/cobra"

	"berth/internal/simulate"
)

func newSimulateFig3() *cobra.Command {
	return experiment(simulate.Fig3(), &cobra.Command{
		Use: "fig3", Short: "The adaptor beside naive requests, for MapReduce jobs of each size",
		Long: `Simulate the paper's figure 3: the mean turnaround of the jobs of each bin of the Facebook
mix, with HPC jobs beside them as in table 2. The paper does not say whether bins were told
apart in the mix or each was an experiment by itself: --alone is the latter.`,
		Example: "  berth simulate fig3 --svg fig3.svg --png fig3.png\n  berth simulate fig3 --alone --no-hpc",
	})
}
