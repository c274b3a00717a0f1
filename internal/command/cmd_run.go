package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job"
)

func newRun(do then) *cobra.Command {
	opts := cli.FileOptions{Env: os.Environ()}
	var o struct {
		Detach bool `flag:"detach" usage:"print the id of the job and do not wait for its end"`
	}
	c := command("run", oneFile, func(cmd *cobra.Command, args []string) error {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find the current folder: %w", err)
		}
		j, err := opts.Job(args[0], dir, piped(cmd))
		if err != nil {
			return kindError(opts.Kind, noJobFile(args[0], err))
		}
		warn(cmd, j.Warnings)
		if err := checkResults(cmd, kindOf(j), o.Detach); err != nil {
			return kindError(opts.Kind, err)
		}
		return kindError(j.Spec.Kind, do(cmd, j, o.Detach))
	})
	c.SetUsageFunc(groupedUsage)
	opts.Register(c.Flags())
	addResultFlags(c.Flags())
	addFlags(c.Flags(), &o)
	return forEitherKind(c)
}

// kindOf returns the kind of a file's job; empty: it is one in stages.
func kindOf(j *cli.Job) job.Kind {
	if j.Stages != nil {
		return ""
	}
	return j.Spec.Kind
}

// noJobFile adds to the error of a file that does not look like a job file what such a file is.
func noJobFile(name string, err error) error {
	var e *job.Error
	if filepath.Ext(name) == ".toml" || !errors.As(err, &e) || e.Do != "" || !strings.HasPrefix(e.Where, name) {
		return err
	}
	with := *e
	with.Do = "a job file is TOML, see berth run --help; a list of entries goes to: berth bag --each-line " + job.Quote(name) + " -- COMMAND"
	return &with
}
