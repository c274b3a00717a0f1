package main

import (
	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/run"
)

type resumeFlags struct {
	failed, detach bool
	workers        int
	sortMemory     string
	scratch        string
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
	c, err := control.Ensure(cmd.Context(), h)
	if err != nil {
		return err
	}
	if over(v) { // one that was interrupted goes on by itself, now that there is a coordinator
		if _, err := run.Replan(cmd.Context(), h, r, change); err != nil {
			return err
		}
		if err := c.Resume(cmd.Context(), r.ID, control.Resume{Failed: f.failed}); err != nil {
			return err
		}
	}
	return finish(cmd, h, r, f.detach)
}

// change returns what the flags make of the job's request.
func (f *resumeFlags) change() (func(*job.Request), error) {
	var bytes int64
	var err error
	if f.sortMemory != "" {
		if bytes, err = job.ParseSize("--sort-memory", f.sortMemory); err != nil {
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
		if scratch != "" {
			r.Scratch = scratch
		}
	}, err
}
