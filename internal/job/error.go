package job

import (
	"errors"
	"fmt"
	"strings"
)

// Class says who can mend an error; retry and exit code follow from it.
type Class uint8

const (
	// Fatal errors are berth's own or the machine's; trying again does not help.
	Fatal Class = iota
	// User errors are mended by changing the command, the job file or the task's program.
	User
	// Transient errors may go away when the same thing is tried again.
	Transient
)

// String returns the class's name.
func (c Class) String() string {
	switch c {
	case User:
		return "user"
	case Transient:
		return "transient"
	default:
		return "fatal"
	}
}

// Error is an error with what a person needs to mend it: what was wrong, where
// (file:line, flag or task), and what to do.
type Error struct {
	Class Class  `json:"class"`
	Code  Code   `json:"code"`            // why, for the exit code
	Where string `json:"where,omitempty"` // "job.toml:12", "--mem", "bag-3 task 7"; may be empty
	What  string `json:"what"`            // what was wrong
	Do    string `json:"do,omitempty"`    // what to do about it; may be empty
	Err   error  `json:"-"`               // cause; may be nil
}

// Code says what kind of failure an error is, as far as exit codes tell them apart.
type Code uint8

const (
	// CodeFailed is any failure without a code of its own.
	CodeFailed Code = iota
	// CodeArguments is a command line that cannot be taken.
	CodeArguments
	// CodeNoInput is input that is missing or matches nothing.
	CodeNoInput
	// CodeConfig is a job file, key or value that cannot be taken.
	CodeConfig
	// CodeOutputExists is an output directory that is there already.
	CodeOutputExists
	// CodeIO is input or output that failed, a full disk among it.
	CodeIO
	// CodeInterrupted is a job that was cancelled or a command that was interrupted.
	CodeInterrupted
)

// ArgumentError returns the error of a user whose arguments do not fit: where, what is wrong, and
// what to do about it; where and do may be empty.
func ArgumentError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeArguments, Where: where, What: what, Do: do}
}

// ConfigError returns the error of a user who wrote a value that is not possible.
func ConfigError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeConfig, Where: where, What: what, Do: do}
}

// Error puts the parts on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.What)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Do != "" {
		b.WriteString("; " + e.Do)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of the first *Error in err's chain, Fatal without one.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Fatal
}

// CodeOf returns the code of the first *Error in err's chain, CodeFailed without one.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeFailed
}
