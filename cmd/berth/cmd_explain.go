package main

import (
	"errors"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/report"
	"berth/internal/run"
	"berth/internal/ui"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain [JOB]", Short: "Say why a job is planned as it is and what it waits for", Args: oneJob,
		Example: "  berth explain mr-3\n  berth explain --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, r, err := named(args)
			if err != nil {
				return err
			}
			p, err := run.LoadPlan(r)
			if err != nil {
				return err
			}
			v, err := view(cmd.Context(), h, r)
			if err != nil {
				return err
			}
			lines := append(append([]string{}, p.Reasons...), p.Notes...)
			for _, later := range v.Plans {
				lines = append(lines, "planned anew: "+later.Decision)
			}
			now, err := control.NewClient(h.Socket()).Explain(cmd.Context(), r.ID)
			switch {
			case err == nil:
				lines = append(lines, now...)
			case errors.Is(err, control.ErrNoServer) || unknown(err):
				lines = append(lines, standing(v))
			default:
				return err
			}
			if wantJSON(cmd) {
				return ui.JSON(cmd.OutOrStdout(), control.Explanation{Lines: lines})
			}
			return ui.Explain(cmd.OutOrStdout(), lines)
		},
	}
}

// standing says where a job stands that no coordinator has.
func standing(v report.JobView) string {
	switch {
	case v.State == report.StateInterrupted:
		return "it is interrupted: its coordinator went away; any job that is started, or berth wait, lets it go on"
	case v.Reason != "":
		return "it is " + v.State + ": " + v.Reason
	default:
		return "it is " + v.State
	}
}
