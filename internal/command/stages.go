package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// submitStages hands in the bags of a job in stages, each after the one before, and unless detached shows
// them to their end.
func submitStages(cmd *cobra.Command, j *cli.Job, detach bool) error {
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	if err := j.Stages.Write(func() error { return stagesOver(cmd.Context(), h, j.Stages.Folder) }); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	var runs []statedir.Run
	for _, next := range append([]*cli.Job{j}, j.Then...) {
		if len(runs) > 0 {
			next.Spec.After = []job.ID{runs[len(runs)-1].ID}
			next.Spec.Stage.First = runs[0].ID
		}
		r, err := hand(ctx, h, next.Spec, next.Entries, handed{})
		if err != nil {
			return errors.Join(err, withdraw(runs), j.Stages.Remove())
		}
		runs = append(runs, r)
	}
	cmd.SetContext(ctx)
	return finishStages(cmd, runs, detach)
}

// stagesOver returns an error if a stage that is not over has its parts in that folder.
func stagesOver(ctx context.Context, h statedir.Home, folder string) error {
	runs, err := h.List()
	for _, r := range runs {
		spec, serr := r.Spec()
		if serr != nil || spec.Stage == nil || spec.Stage.Folder != folder {
			continue
		}
		if v, err := view(ctx, r); err == nil && !over(v) {
			return job.OutputError(folder, fmt.Sprintf("the stage %s (%s) is not over", v.Name, r.ID), "wait for it or cancel it first, or name another folder")
		}
	}
	return err
}

// withdraw cancels the first stages of a job whose next one could not be submitted.
func withdraw(runs []statedir.Run) error {
	var errs []error
	for _, r := range runs {
		errs = append(errs, control.Call(context.Background(), r.Home, func(c *control.Client) error {
			err := c.Cancel(context.Background(), r.ID, "the next stage could not be submitted")
			if job.ClassOf(err) == job.User { // it is over by now
				return nil
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

// planStages tells how each stage would be run; with --json how the operation would.
func planStages(cmd *cobra.Command, j *cli.Job) error {
	for i, next := range append([]*cli.Job{j}, j.Then...) {
		if wantJSON(cmd) && i != 1 {
			continue
		}
		if !wantJSON(cmd) {
			_ = ui.Say(cmd.OutOrStdout(), "%s:", next.Spec.Name)
		}
		if err := planOnly(cmd, next); err != nil {
			return err
		}
	}
	return nil
}

// finishStages shows stages one after the other, or says their ids where they are to be left alone. It ends at
// the first that is not done.
func finishStages(cmd *cobra.Command, runs []statedir.Run, detach bool) error {
	if detach {
		return tellStages(cmd, runs)
	}
	views, err := showStages(cmd, runs)
	if len(views) > 0 && wantJSON(cmd) {
		err = errors.Join(ui.JSON(cmd.OutOrStdout(), ui.Stages{Stages: views}), err)
	}
	return err
}

func tellStages(cmd *cobra.Command, runs []statedir.Run) error {
	var told ui.SubmittedStages
	for _, r := range runs {
		told.IDs = append(told.IDs, r.ID)
	}
	return Show(cmd, told, func(w io.Writer) (err error) {
		for _, id := range told.IDs {
			err = cmp.Or(err, ui.Say(w, "%s", id))
		}
		return err
	})
}

// showStages shows stages until all are done, or one is not; then the error says which.
func showStages(cmd *cobra.Command, runs []statedir.Run) (views []report.JobView, err error) {
	for _, r := range runs {
		v, err := showToEnd(cmd, r, attachment{owner: true})
		if err != nil {
			return views, err
		}
		views = append(views, v)
		if err := jobExit(v); err != nil {
			_ = ui.Say(cmd.ErrOrStderr(), "berth: the stage %s is %s; berth resume %s goes on with it and the stages after it; after a change of its command berth run does, with the parts that there are", v.Name, v.State, r.ID)
			return views, err
		}
	}
	spec, err := runs[len(runs)-1].Spec()
	if err == nil && !spec.Stage.Keep {
		err = os.RemoveAll(spec.Stage.Folder)
	}
	return views, err
}

// resumeStages lets a job in stages go on: all of its stages that are not done, with the tasks that failed.
func resumeStages(cmd *cobra.Command, r statedir.Run, spec *job.Spec, f *resumeFlags) error {
	all, err := stagesWith(r.Home, cmp.Or(spec.Stage.First, r.ID))
	if err != nil {
		return err
	}
	var left []statedir.Run
	for _, r := range all {
		v, err := view(cmd.Context(), r)
		if err != nil {
			return err
		}
		if v.State == event.StateDone {
			continue
		}
		left = append(left, r)
		if err := goOn(cmd.Context(), r, v, f, true); err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return job.ArgumentError(string(r.ID), "all stages of the job are done; there is nothing to resume", "")
	}
	return finishStages(cmd, left, f.Detach)
}

// stagesWith returns the stages of the job whose first stage is given, in their order.
func stagesWith(h statedir.Home, first job.ID) ([]statedir.Run, error) {
	runs, err := h.List()
	var all []statedir.Run
	for _, r := range runs {
		if spec, err := r.Spec(); err == nil && whole(r) && spec.Stage != nil && cmp.Or(spec.Stage.First, r.ID) == first {
			all = append(all, r)
		}
	}
	return all, err
}
