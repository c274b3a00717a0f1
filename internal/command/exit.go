package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
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
		return codeExit(job.CodeInterrupted)
	}
	return codeExit(job.CodeOf(err))
}

// codeExit is the exit code of berth mapreduce, and of every other command but those for bags: the error's own code, and 1
// where the job failed.
func codeExit(c job.Code) int { return max(1, int(c)) }

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
	code := exitBagError
	switch state := v.State; {
	case state == event.StateDone && v.Joblog != "":
		return &exitError{code: code, err: errors.New(v.Joblog)}
	case state == event.StateDone:
		return nil
	case v.Kind != job.Bag && state == event.StateCancelled:
		code = codeExit(job.CodeInterrupted)
	case v.Kind != job.Bag:
		code = codeExit(v.ErrorCode())
	case v.ErrorCode() == job.CodeNotStarted:
		code = exitBagNotStarted
	case state != event.StateCancelled && v.TasksFailed > 0:
		code = min(v.TasksFailed, exitManyFailed)
	}
	return &exitError{code: code}
}
