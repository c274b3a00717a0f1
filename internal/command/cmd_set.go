package command

import (
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
)

func newSet() *cobra.Command {
	return command("set", wantSettings, func(cmd *cobra.Command, args []string) error {
		r, err := named(args[:1])
		if err != nil {
			return err
		}
		v, err := view(cmd.Context(), r)
		if err != nil {
			return err
		}
		if over(v) {
			return job.ArgumentError(string(r.ID), "the job is over", "change it with: berth resume "+string(r.ID)+" --OPTION")
		}
		was := control.WasSet{}
		err = control.Call(cmd.Context(), r.Home, func(c *control.Client) (err error) {
			was.Notes, err = c.Set(cmd.Context(), r.ID, args[1:])
			return err
		})
		if err != nil {
			return err
		}
		warn(cmd, was.Notes)
		return reply(cmd, was, "%s has %s from now on", r.ID, strings.Join(args[1:], ", "))
	})
}

func wantSettings(c *cobra.Command, args []string) error {
	if len(args) < 2 || strings.Contains(args[0], "=") {
		return job.ArgumentError("", "set wants a job and what to change", "as in: berth set bag-7 priority=5 throttle=10")
	}
	return nil
}
