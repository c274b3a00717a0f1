package main

import (
	"context"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
	"berth/internal/job"
)

const sweepTimes = "longest time that MapReduce jobs may ask for; several with commas: the table for each; 0 for no limit"

func newSimulateTable2() *cobra.Command {
	e := &experiment{}
	c := &cobra.Command{
		Use: "table2", Short: "The adaptor beside naive requests, with HPC jobs of a model", Args: noArguments,
		Long: `Simulate the paper's table 2: one hour of HPC jobs (Lublin and Feitelson's model, peak
hour), one hour of MapReduce jobs (Facebook mix), and both, on 128 nodes with conservative
backfilling. Mean turnaround and utilization, HPC and MapReduce jobs apart, with the paper's
figures beneath. All adaptors get the same jobs; simulations are replicated until every
mean is known within the precision.`,
		Example: "  berth simulate table2\n  berth simulate table2 --max-time 2h,6h,18h --csv limits.csv\n" +
			"  berth simulate table2 --hpc-types typed --hpc-jobs 400 --adaptors naive,paper,shortest --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := e.table()
			if err != nil {
				return err
			}
			return e.run(cmd, "table2", func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Table2(ctx, t) })
		},
	}
	e.flags(c, "naive,paper,several,yield")
	e.limit(c, sweepTimes)
	e.hpcFlags(c)
	e.mrFlags(c, 0)
	return c
}

// table reads the flags of a table.
func (e *experiment) table() (evaluate.Table, error) {
	cases, err := e.take()
	if err != nil {
		return evaluate.Table{}, err
	}
	limits, err := times("--max-time", e.maxTime, job.ParseLimit)
	return evaluate.Table{HPC: e.hpc, MR: e.mr, MaxTimes: limits, Cases: cases}, err
}
