package main

import (
	"context"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
)

func newSimulateVariants() *cobra.Command {
	e := &experiment{}
	var everies string
	c := &cobra.Command{
		Use: "variants", Short: "All adaptors beside each other and a lower bound, across loads", Args: noArguments,
		Long: `Simulate all ways to bring MapReduce jobs to the cluster under the same jobs, from rare to
frequent ones, alone and with HPC jobs: naive requests, the paper's adaptor, berth's plan
with its parts switched on one after another, and what no scheduler can beat.`,
		Example: "  berth simulate variants --out results\n  berth simulate variants --mr-interarrivals 14s --adaptors paper,shortest,bound",
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := e.sweep(everies)
			if err != nil {
				return err
			}
			return e.run(cmd, "variants", func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Variants(ctx, w) })
		},
	}
	e.flags(c, caseNames())
	e.draws(c)
	e.limit(c, oneTime)
	e.hpcFlags(c)
	e.mrFlags(c, 0)
	c.Flags().StringVar(&everies, "mr-interarrivals", "7s,10s,14s,20s,30s,60s", "mean times between MapReduce jobs")
	return c
}
