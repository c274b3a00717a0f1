package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/run"
)

// maxWorkers bounds --workers, as where jobs are submitted.
const maxWorkers = 1024

type resumeFlags struct {
	failed, detach bool
	workers        int
	sortMemory     string
	scratch, time  string
}

func newResume() *cobra.Command {
	var f resumeFlags
	c := &cobra.Command{
		Use: "resume [JOB]", Short: "Go on with a job that failed, was cancelled or interrupted", Args: oneJob,
		Long: `Go on with what is not done of a job; what is done is not run again. Tasks of a bag that
failed are left as they are unless --failed is given.`,
		Example: "  berth resume mr-3\n  berth resume bag-7 --failed\n  berth resume mr-3 --scratch /big/disk",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, r, err := named(args)
			if err != nil {
				return err
			}
			spec, err := r.Spec()
			if err != nil {
				return err
			}
			return bagError(spec.Kind, resume(cmd, h, r, &f))
		},
	}
	c.Flags().BoolVar(&f.failed, "failed", false, "run the tasks that failed again, too")
	c.Flags().BoolVar(&f.detach, "detach", false, "do not wait for the end")
	c.Flags().IntVar(&f.workers, "workers", 0, "use so many workers from now on")
	c.Flags().StringVarP(&f.time, "time", "t", "", "bound the wall time anew; auto: no bound")
	c.Flags().StringVar(&f.sortMemory, "sort-memory", "", "give each worker so much memory for sorting from now on")
	c.Flags().StringVar(&f.scratch, "scratch", "", "keep intermediate data in this folder from now on")
	return c
}

func resume(cmd *cobra.Command, h home.Home, r home.Run, f *resumeFlags) error {
	change, err := f.change()
	if err != nil {
		return err
	}
	v, err := view(cmd.Context(), h, r)
	if err != nil {
		return err
	}
	if !over(v) { // it goes on by itself once there is a coordinator
		if *f != (resumeFlags{detach: f.detach}) {
			return &job.Error{Class: job.User, Code: job.CodeArguments, Where: string(r.ID), What: "the job is not over: it goes on as it was planned",
				Do: "cancel it first to change that"}
		}
		if _, err := control.Ensure(cmd.Context(), h); err != nil {
			return err
		}
		if !handedIn(r) {
			if err := handIn(cmd.Context(), h, r); err != nil {
				return err
			}
		}
		return finish(cmd, h, r, f.detach, v)
	}
	old, err := run.LoadPlan(r)
	if err != nil {
		return err
	}
	if _, err := run.Replan(cmd.Context(), h, r, f.failed, change); err != nil {
		return err
	}
	if err := goOn(cmd.Context(), h, r, control.Resume{Failed: f.failed}); err != nil {
		return errors.Join(err, home.WriteJSON(r.Plan(), old))
	}
	return finish(cmd, h, r, f.detach, v)
}

// goOn has a coordinator take up a job that is over. If it dies before it answers
// the next one is asked, unless the job goes on already.
func goOn(ctx context.Context, h home.Home, r home.Run, how control.Resume) error {
	for tries := 0; ; tries++ {
		c, err := control.Ensure(ctx, h)
		if err == nil {
			err = c.Resume(ctx, r.ID, how)
		}
		if err == nil || !lost(err) || tries == maxTries {
			return err
		}
		if err := pause(ctx, time.Duration(tries)*100*time.Millisecond); err != nil {
			return err
		}
		if v, err := view(ctx, h, r); err == nil && !over(v) {
			return nil
		}
	}
}

// change returns what the flags make of the job's request.
func (f *resumeFlags) change() (func(*job.Request), error) {
	var bytes int64
	var err error
	if f.workers < 0 || f.workers > maxWorkers {
		return nil, argumentError(fmt.Sprintf("--workers: %d is no such number", f.workers), fmt.Sprintf("write a whole number from 1 to %d", maxWorkers))
	}
	if f.sortMemory != "" {
		if bytes, err = job.ParseSize("--sort-memory", f.sortMemory); err != nil {
			return nil, err
		}
	}
	var limit time.Duration
	if f.time != "" {
		if limit, err = job.ParseLimit("--time", f.time); err != nil {
			return nil, err
		}
	}
	scratch, err := absolute(f.scratch)
	return func(r *job.Request) {
		if f.workers > 0 {
			r.Workers = f.workers
		}
		if bytes > 0 {
			r.SortMemory = bytes
		}
		if f.time != "" {
			r.MaxTime = limit
		}
		if scratch != "" {
			r.Scratch = scratch
		}
	}, err
}
