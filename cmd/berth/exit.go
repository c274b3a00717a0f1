package main

import (
	"context"
	"errors"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/report"
)

// Exit codes of berth mapreduce, and of every other command but berth bag.
const (
	exitFailed       = 1 // the job failed, or the arguments cannot be taken
	exitNoInput      = 2
	exitConfig       = 3
	exitOutputExists = 4
	exitIO           = 5
	exitInterrupted  = 6
)

// Exit codes of berth bag: the number of failed tasks up to 100, then these.
const (
	exitManyFailed = 101
	exitBagError   = 255
)

// exitError is an error that says what the process's exit code is.
type exitError struct {
	code int
	err  error // nil: nothing is left to say
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitCode returns the process's exit code for an error.
func exitCode(err error) int {
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
	default:
		return exitFailed
	}
}

// bagError gives an error of berth's own the exit code of berth bag.
func bagError(kind job.Kind, err error) error {
	if err == nil || kind != job.Bag {
		return err
	}
	var e *exitError
	if errors.As(err, &e) {
		return err
	}
	return &exitError{code: exitBagError, err: err}
}

// jobExit returns the error that stands for how a job ended, nil where it is done.
func jobExit(v report.JobView) error {
	state := event.State(v.State)
	if state == event.StateDone {
		return nil
	}
	if v.Kind == job.Bag {
		switch {
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
