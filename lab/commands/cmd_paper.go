package commands

import (
	"github.com/spf13/cobra"

	"berth/internal/command"
)

func newTable2() *cobra.Command {
	return experiment(Table2(), &cobra.Command{
		Use: "table2", Short: "The adaptor beside naive requests, with HPC jobs of a model",
		Long: `Simulate the paper's table 2: one hour of HPC jobs (Lublin and Feitelson's model, peak
hour), one hour of MapReduce jobs (Facebook mix), and both, on 128 nodes with conservative
backfilling. Mean turnaround and utilization, HPC and MapReduce jobs apart, with the paper's
figures beneath. All adaptors get the same jobs; simulations are replicated until every
mean is known within the precision.`,
		Example: "  berth-lab table2\n  berth-lab table2 --max-time 2h,6h,18h --csv limits.csv\n" +
			"  berth-lab table2 --hpc-types typed --hpc-jobs 400 --adaptors naive,paper,shortest --json",
	})
}

func newTable3() *cobra.Command {
	return experiment(Table3(), &cobra.Command{
		Use: "table3 TRACE", Short: "The adaptor beside naive requests, with HPC jobs of a log", Args: command.One("log", 1, true),
		Long: `Simulate the paper's table 3: the HPC jobs of one day of a log in the Standard Workload
Format (SDSC SP2 in the paper), 1,000 MapReduce jobs, and both. The paper does not say
which day: auto is the one on which the HPC jobs alone come nearest to the turnaround and
utilization that it reports.`,
		Example: "  berth-lab table3 SDSC-SP2-1998-4.2-cln.swf.gz\n  berth-lab table3 log.swf --nodes 256 --day 17",
	})
}

func newFig3() *cobra.Command {
	return experiment(Fig3(), &cobra.Command{
		Use: "fig3", Short: "The adaptor beside naive requests, for MapReduce jobs of each size",
		Long: `Simulate the paper's figure 3: the mean turnaround of the jobs of each bin of the Facebook
mix, with HPC jobs beside them as in table 2. The paper does not say whether bins were told
apart in the mix or each was an experiment by itself: --alone is the latter.`,
		Example: "  berth-lab fig3 --svg fig3.svg --png fig3.png\n  berth-lab fig3 --alone --no-hpc",
	})
}

func newFig4() *cobra.Command {
	return experiment(Fig4(), &cobra.Command{
		Use: "fig4", Short: "The adaptor beside naive requests, under other loads",
		Long: `Simulate the paper's figure 4: HPC and MapReduce jobs as in table 2, (a) with HPC jobs more
or less often, by the shape of the gamma distribution between them, and (b) with MapReduce
jobs more or less often.`,
		Example: "  berth-lab fig4 --svg fig4.svg\n  berth-lab fig4 --shapes 4,10.23,60 --mr-interarrivals 7s,14s,60s --json",
	})
}

func newVariants() *cobra.Command {
	return experiment(Variants(), &cobra.Command{
		Use: "variants", Short: "All adaptors beside each other and a lower bound, across loads",
		Long: `Simulate all ways to bring MapReduce jobs to the cluster under the same jobs, from rare to
frequent ones, alone and with HPC jobs: naive requests, the paper's adaptor, berth's plan
with its parts switched on one after another, and what no scheduler can beat.`,
		Example: "  berth-lab variants --out results\n  berth-lab variants --mr-interarrivals 14s --adaptors paper,shortest,bound",
	})
}
