package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Exit codes of berth mapreduce, and of every other command but those for bags.
const (
	exitFailed       = 1 // the job failed, or the arguments are invalid
	exitNoInput      = 2
	exitConfig       = 3
	exitOutputExists = 4
	exitIO           = 5
	exitInterrupted  = 6
	exitNotStarted   = 7
)

// Exit codes of berth bag: the number of failed tasks up to 100, then these. Commands for jobs of either kind
// have the last one, too, for errors that come before the kind is known.
const (
	exitManyFailed    = 101
	exitBagNotStarted = 102
	exitBagError      = 255
)

// exitError is an error that says what the process's exit code is.
type exitError struct {
	code int
	err  error // nil: no message is printed
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitCode returns the process's exit code for an error.
func ExitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return codeExit(job.CodeOf(err))
}

func codeExit(c job.Code) int {
	switch c {
	case job.CodeNoInput:
		return exitNoInput
	case job.CodeConfig:
		return exitConfig
	case job.CodeOutputExists:
		return exitOutputExists
	case job.CodeIO:
		return exitIO
	case job.CodeInterrupted:
		return exitInterrupted
	case job.CodeNotStarted:
		return exitNotStarted
	default:
		return exitFailed
	}
}

// kindError gives an error of berth's own the exit code that it has for a job of that kind.
func kindError(kind job.Kind, err error) error {
	var e *exitError
	switch {
	case err == nil || errors.As(err, &e):
		return err
	case kind == job.MapReduce:
		return &exitError{code: ExitCode(err), err: err}
	case job.CodeOf(err) == job.CodeNotStarted:
		return &exitError{code: exitBagNotStarted, err: err}
	default:
		return &exitError{code: exitBagError, err: err}
	}
}

// forEitherKind makes a command for jobs of either kind exit so that no error is taken for a number of failed
// tasks: what comes before the kind is known has an exit code of its own.
func forEitherKind(c *cobra.Command) *cobra.Command {
	args, run := c.Args, c.RunE
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return kindError("", flagError(c, err)) })
	c.Args = func(c *cobra.Command, words []string) error { return kindError("", args(c, words)) }
	c.RunE = func(c *cobra.Command, words []string) error { return kindError("", run(c, words)) }
	return c
}

// jobExit returns the error that stands for how a job ended, nil where it is done.
func jobExit(v report.JobView) error {
	state := event.State(v.State)
	if state == event.StateDone && v.Joblog != "" {
		return &exitError{code: exitBagError, err: errors.New(v.Joblog)}
	}
	if state == event.StateDone {
		return nil
	}
	if v.Kind == job.Bag {
		switch {
		case v.ErrorCode() == job.CodeNotStarted:
			return &exitError{code: exitBagNotStarted}
		case state == event.StateCancelled || v.TasksFailed == 0:
			return &exitError{code: exitBagError}
		case v.TasksFailed > 100:
			return &exitError{code: exitManyFailed}
		default:
			return &exitError{code: v.TasksFailed}
		}
	}
	if state == event.StateCancelled {
		return &exitError{code: exitInterrupted}
	}
	return &exitError{code: codeExit(v.ErrorCode())}
}
