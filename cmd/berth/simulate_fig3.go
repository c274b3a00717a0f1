package main

import (
	"context"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
	"berth/internal/job"
)

const oneTime = "longest time that MapReduce jobs may ask for; 0 for no limit"

func newSimulateFig3() *cobra.Command {
	e := &experiment{}
	var alone, noHPC bool
	c := &cobra.Command{
		Use: "fig3", Short: "The adaptor beside naive requests, for MapReduce jobs of each size", Args: noArguments,
		Long: `Simulate the paper's figure 3: the mean turnaround of the jobs of each bin of the Facebook
mix, with HPC jobs beside them as in table 2. The paper does not say whether bins were told
apart in the mix or each was an experiment by itself: --alone is the latter.`,
		Example: "  berth simulate fig3 --svg fig3.svg --png fig3.png\n  berth simulate fig3 --alone --no-hpc",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cases, err := e.take()
			if err != nil {
				return err
			}
			limit, err := job.ParseLimit("--max-time", e.maxTime)
			if err != nil {
				return err
			}
			b := evaluate.Bins{HPC: e.hpc, MR: e.mr, MaxTime: limit, Cases: cases, Alone: alone, NoHPC: noHPC}
			return e.run(cmd, "fig3", func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Fig3(ctx, b) })
		},
	}
	e.flags(c, "naive,paper,several,yield")
	e.draws(c)
	e.limit(c, oneTime)
	e.hpcFlags(c)
	e.mrFlags(c, 0)
	c.Flags().BoolVar(&alone, "alone", false, "each bin by itself, as many jobs of it as of the whole mix")
	c.Flags().BoolVar(&noHPC, "no-hpc", false, "MapReduce jobs only")
	return c
}
