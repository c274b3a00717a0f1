package main

import (
	"github.com/spf13/cobra"

	"berth/internal/home"
	"berth/internal/report"
	"berth/internal/ui"
)

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List your jobs, newest last", Args: cobra.NoArgs,
		Example: "  berth status\n  berth status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Locate()
			if err != nil {
				return err
			}
			all, err := views(cmd.Context(), h)
			if err != nil {
				return err
			}
			if wantJSON(cmd) {
				return ui.JSON(cmd.OutOrStdout(), report.NewStatusList(all))
			}
			return ui.Status(cmd.OutOrStdout(), all)
		},
	}
}
