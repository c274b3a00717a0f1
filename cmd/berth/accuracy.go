package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/store"
)

// printAccuracy says how well runs kept to what was predicted for them.
func printAccuracy(cmd *cobra.Command, a store.Accuracy) error {
	if a.Runs == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no run with a prediction is done yet")
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(),
		"%d runs with a prediction: %d within the bounds, %d sooner, %d later\nactual time over upper bound: median %.2f, worst %.2f\n",
		a.Runs, a.Within, a.Below, a.Above, a.MedianRatio, a.WorstRatio)
	return err
}
