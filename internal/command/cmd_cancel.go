package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel JOB...", Short: "Stop jobs; finished tasks stay done", Args: someJobs,
		Long: `Stop jobs and wait until their tasks have ended. Finished tasks stay done: berth resume
runs the others.`,
		Example: "  berth cancel mr-3\n  berth cancel last",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := statedir.Open()
			if err != nil {
				return err
			}
			for _, name := range args {
				r, err := find(h, name)
				if err != nil {
					return err
				}
				if err := cancel(cmd, h, r); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func cancel(cmd *cobra.Command, h statedir.Home, r statedir.Run) error {
	v, err := view(cmd.Context(), h, r)
	if err != nil {
		return err
	}
	if over(v) {
		return &job.Error{Class: job.User, Where: string(r.ID), What: "the job is over already: " + v.State}
	}
	if !handedIn(r) {
		return discard(cmd, r, v)
	}
	c, err := control.Ensure(cmd.Context(), h)
	if err != nil {
		return err
	}
	if err := c.Cancel(cmd.Context(), r.ID, "cancelled by its user"); err != nil {
		return err
	}
	if v, err = follow(cmd.Context(), h, r, ui.New(ui.Options{Mode: ui.Quiet})); err != nil {
		return err
	}
	return told(cmd, v)
}

// discard removes a run that was never given to a coordinator.
func discard(cmd *cobra.Command, r statedir.Run, v report.JobView) error {
	spec, err := r.Spec()
	if err != nil {
		return err
	}
	if err := rundir.Discard(r, spec); err != nil {
		return err
	}
	v.State = string(event.StateCancelled)
	return told(cmd, v)
}

// told prints the state of a job in one line.
func told(cmd *cobra.Command, v report.JobView) error {
	return show(cmd, v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s is %s: %d of %d tasks are done\n", v.ID, v.State, v.TasksDone, v.TasksTotal)
		return err
	})
}
