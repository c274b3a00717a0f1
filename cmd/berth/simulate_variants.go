package main

import (
	"github.com/spf13/cobra"

	"berth/internal/simulate"
)

func newSimulateVariants() *cobra.Command {
	return experiment(simulate.Variants(), &cobra.Command{
		Use: "variants", Short: "All adaptors beside each other and a lower bound, across loads",
		Long: `Simulate all ways to bring MapReduce jobs to the cluster under the same jobs, from rare to
frequent ones, alone and with HPC jobs: naive requests, the paper's adaptor, berth's plan
with its parts switched on one after another, and what no scheduler can beat.`,
		Example: "  berth simulate variants --out results\n  berth simulate variants --mr-interarrivals 14s --adaptors paper,shortest,bound",
	})
}
