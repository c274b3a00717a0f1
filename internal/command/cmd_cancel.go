package command

import (
	"errors"
	"io"
	"slices"

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
	var tasks []string
	c := command("cancel", someJobs, func(cmd *cobra.Command, args []string) error {
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		if len(tasks) > 0 && len(args) > 1 {
			return job.ArgumentError("--task", "tasks of several jobs cannot be cancelled at once", "name one job")
		}
		for _, name := range args {
			r, err := find(h, name)
			if err != nil {
				return err
			}
			if len(tasks) > 0 {
				return cancelTasks(cmd, r, tasks)
			}
			if err := cancel(cmd, r); err != nil {
				return err
			}
		}
		return nil
	})
	c.Flags().StringArrayVar(&tasks, "task", nil, "stop this task of the bag only, by its number from 1 or its name; may be repeated")
	return c
}

// cancelTasks cancels tasks of a bag, waits until they have ended and prints what they are.
func cancelTasks(cmd *cobra.Command, r statedir.Run, tasks []string) error {
	ctx := cmd.Context()
	if err := control.Call(ctx, r.Home, func(c *control.Client) error { return c.Cancel(ctx, r.ID, "cancelled by its user", tasks...) }); err != nil {
		return err
	}
	words, err := states(ctx, r, tasks)
	for err == nil && (slices.Contains(words, "running") || slices.Contains(words, "waiting")) {
		if err = rundir.Poll(ctx); err == nil {
			words, err = states(ctx, r, tasks)
		}
	}
	return errors.Join(Show(cmd, control.States{States: words}, func(w io.Writer) error { return ui.Lines(w, words) }), err)
}

func cancel(cmd *cobra.Command, r statedir.Run) error {
	v, err := view(cmd.Context(), r)
	if err != nil {
		return err
	}
	if over(v) {
		return job.UserError(string(r.ID), "the job is over already: "+string(v.State), "")
	}
	if !rundir.HandedIn(r) {
		return discard(cmd, r, v)
	}
	c, err := control.Ensure(cmd.Context(), r.Home)
	if err != nil {
		return err
	}
	if err := c.Cancel(cmd.Context(), r.ID, "cancelled by its user"); err != nil {
		return err
	}
	if v, err = follow(cmd.Context(), r, ui.New(ui.Options{Mode: ui.Quiet})); err != nil {
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
	v.State = event.StateCancelled
	return told(cmd, v)
}

// told prints the state of a job in one line.
func told(cmd *cobra.Command, v report.JobView) error {
	return reply(cmd, v, "%s is %s: %d of %d tasks are done", v.ID, v.State, v.TasksDone, v.TasksTotal)
}
