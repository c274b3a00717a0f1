package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/home"
	"berth/internal/report"
	"berth/internal/ui"
)

func newStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List your jobs, newest last", Args: noArguments,
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
			return errors.Join(ui.Status(cmd.OutOrStdout(), all), warnDamaged(cmd, all))
		},
	}
}

// warnDamaged says of runs that cannot be read why not.
func warnDamaged(cmd *cobra.Command, all []report.JobView) error {
	for _, v := range all {
		if v.State != report.StateDamaged {
			continue
		}
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "berth: warning: %s: %s\n", v.ID, v.Reason); err != nil {
			return err
		}
	}
	return nil
}
