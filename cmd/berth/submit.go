package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/run"
	"berth/internal/ui"
)

// submit plans a job, hands it to the coordinator and, unless detached, shows it to its end.
func submit(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, detach bool) error {
	h, err := home.Open()
	if err != nil {
		return err
	}
	d, err := run.Decide(cmd.Context(), h, spec, entries)
	if err != nil {
		return err
	}
	c, err := control.Ensure(cmd.Context(), h)
	if err != nil {
		return err
	}
	r, err := run.Prepare(h, d)
	if err != nil {
		return err
	}
	if err := c.Submit(cmd.Context(), r.ID); err != nil {
		if !lost(err) { // it was refused; else it may have been taken on, and goes on with the next coordinator
			err = errors.Join(err, r.Remove())
		}
		return err
	}
	return finish(cmd, h, r, detach)
}

// finish shows a job to its end, or says its id where it is to be left alone.
func finish(cmd *cobra.Command, h home.Home, r home.Run, detach bool) error {
	if !detach {
		v, err := attach(cmd, h, r)
		if err != nil {
			return err
		}
		return jobExit(v)
	}
	if wantJSON(cmd) {
		return ui.JSON(cmd.OutOrStdout(), struct {
			ID job.ID `json:"id"`
		}{r.ID})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), r.ID)
	return err
}

// absolute resolves a path that a flag names; an empty one stays empty.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// unknown reports whether the coordinator does not have the job that was asked for.
func unknown(err error) bool { return job.CodeOf(err) == job.CodeArguments }
