package command

import (
	"github.com/spf13/cobra"

	"berth/internal/server/control"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newForget() *cobra.Command {
	return command("forget", someJobs, func(cmd *cobra.Command, args []string) error {
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		var runs []statedir.Run
		for _, name := range args {
			r, err := find(h, name)
			if err != nil {
				return err
			}
			runs = append(runs, r)
		}
		// Runs are removed by the coordinator: it alone knows that a job is over and that nobody resumes it meanwhile.
		c, err := control.Ensure(cmd.Context(), h)
		if err != nil {
			return err
		}
		var done ui.Forgotten
		for _, r := range runs {
			if err := control.Again(cmd.Context(), func() error { return c.Forget(cmd.Context(), r.ID) }); err != nil {
				return err
			}
			done.Forgotten = append(done.Forgotten, r.ID)
			if !wantJSON(cmd) {
				if err := ui.Say(cmd.OutOrStdout(), "%s is forgotten", r.ID); err != nil {
					return err
				}
			}
		}
		if wantJSON(cmd) {
			return ui.JSON(cmd.OutOrStdout(), done)
		}
		return nil
	})
}
