package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

type resumeFlags struct {
	Failed bool `flag:"failed" usage:"run failed tasks again too"`
	Detach bool `flag:"detach" usage:"do not wait for the end of the job"`
	terms  cli.ResumeOptions
}

func newResume() *cobra.Command {
	var f resumeFlags
	c := command("resume", oneJob, func(cmd *cobra.Command, args []string) error {
		r, err := named(args)
		if err != nil {
			return err
		}
		spec, err := r.Spec()
		if err != nil {
			return err
		}
		if spec.Stage != nil {
			return kindError(spec.Kind, resumeStages(cmd, r, spec, &f))
		}
		return kindError(spec.Kind, resume(cmd, r, &f))
	})
	addFlags(c.Flags(), &f)
	f.terms.Register(c.Flags())
	return forEitherKind(c)
}

func resume(cmd *cobra.Command, r statedir.Run, f *resumeFlags) error {
	v, err := view(cmd.Context(), r)
	if err != nil {
		return err
	}
	if !over(v) && (f.Failed || f.terms.Given()) {
		return job.ArgumentError(string(r.ID), "the job is not over, so its options cannot change", "change it with: berth set; or cancel it first, then resume it with the new options")
	}
	if err := goOn(cmd.Context(), r, v, f, f.Failed); err != nil {
		return err
	}
	return finish(cmd, r, f.Detach, v)
}

// goOn lets a job go on. One that is over is planned again; another goes on by itself once there is a coordinator.
func goOn(ctx context.Context, r statedir.Run, v report.JobView, f *resumeFlags, failed bool) error {
	if !over(v) {
		_, err := control.Ensure(ctx, r.Home)
		if err == nil && !rundir.HandedIn(r) {
			err = handIn(ctx, r, control.Submit{})
		}
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	undo, err := rundir.Replan(ctx, r, failed, func(s *job.Spec) error { return f.terms.Change(s, dir) })
	if err != nil {
		return err
	}
	if err := takeUp(ctx, r, control.Resume{Failed: failed}); err != nil {
		return errors.Join(err, undo())
	}
	return nil
}

// takeUp has a coordinator take up a job that is over. If it dies before it answers
// the next one is asked, unless the job goes on already.
func takeUp(ctx context.Context, r statedir.Run, how control.Resume) error {
	asked := false
	return control.Call(ctx, r.Home, func(c *control.Client) error {
		if asked {
			if v, err := view(ctx, r); err == nil && !over(v) {
				return nil
			}
		}
		asked = true
		return c.Resume(ctx, r.ID, how)
	})
}
