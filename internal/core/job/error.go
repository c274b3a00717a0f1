package job

import "errors"

// Class says who can correct an error. It decides whether an operation is tried again.
type Class uint8

const (
	// Fatal errors come from berth or from the machine, and another attempt does not help.
	Fatal Class = iota
	// User errors are corrected by a change to the command, the job file or the task's program.
	User
	// Transient errors may not occur again when the operation is repeated.
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

// Error is an error with what a person needs to correct it: what was wrong, where
// (file:line, flag or task), and what to do.
type Error struct {
	Class Class  `json:"class"`
	Code  Code   `json:"code"`            // decides the exit code
	Where string `json:"where,omitempty"` // "job.toml:12", "--mem", "bag-3 task 7"; may be empty
	What  string `json:"what"`            // what was wrong
	Do    string `json:"do,omitempty"`    // what to do about it; may be empty
	Err   error  `json:"-"`               // cause; may be nil
}

// Code is the kind of a failure. Kinds differ in their exit codes.
type Code uint8

const (
	// CodeFailed is any failure without a code of its own.
	CodeFailed Code = iota
	// CodeArguments is an invalid command line.
	CodeArguments
	// CodeNoInput is input that is missing, or a pattern that matches no file.
	CodeNoInput
	// CodeConfig is an invalid job file, key or value.
	CodeConfig
	// CodeOutputExists is an output folder that exists already.
	CodeOutputExists
	// CodeIO is a failure to read or write, for instance because a disk is full.
	CodeIO
	// CodeInterrupted is a job that was cancelled or a command that was interrupted.
	CodeInterrupted
	// CodeNotStarted is a job whose first allocation would start, or has started, too late (Request.StartWithin). Nothing ran.
	CodeNotStarted
)

// SubmitAgain is the advice for a job that a resume cannot help.
const SubmitAgain = "submit the job again"

// ArgumentError returns a User error about the command line: where the mistake is, what is wrong and
// what to do about it. where and do may be empty.
func ArgumentError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeArguments, Where: where, What: what, Do: do}
}

// ConfigError returns a User error about an invalid value, as ArgumentError does about the command line.
func ConfigError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeConfig, Where: where, What: what, Do: do}
}

// InputError returns a User error about input that is missing or cannot be read.
func InputError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeNoInput, Where: where, What: what, Do: do}
}

// OutputError returns a User error about an output that exists already.
func OutputError(where, what, do string) *Error {
	return &Error{Class: User, Code: CodeOutputExists, Where: where, What: what, Do: do}
}

// IOError returns the error of a file, a folder or a host that cannot be read, written or reached. cause may be nil.
func IOError(class Class, where, what string, cause error) *Error {
	return &Error{Class: class, Code: CodeIO, Where: where, What: what, Err: cause}
}

// TransientError returns the error of a service that may do later what it was asked for. cause may be nil.
func TransientError(where, what string, cause error) *Error {
	return &Error{Class: Transient, Where: where, What: what, Err: cause}
}

// FatalError returns an error that no further try can change. cause may be nil.
func FatalError(where, what string, cause error) *Error {
	return &Error{Where: where, What: what, Err: cause}
}

// UserError returns a User error about something else than arguments, values, input or output, as ArgumentError does about the command line.
func UserError(where, what, do string) *Error {
	return &Error{Class: User, Where: where, What: what, Do: do}
}

// Advice sets what to do about the error.
func (e *Error) Advice(do string) *Error {
	e.Do = do
	return e
}

// Because sets the cause of the error.
func (e *Error) Because(cause error) *Error {
	e.Err = cause
	return e
}

// Error returns all parts on one line.
func (e *Error) Error() string {
	text := e.What
	if e.Where != "" {
		text = e.Where + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of the first *Error in err's chain, or Fatal if there is none.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Fatal
}

// CodeOf returns the code of the first *Error in err's chain, or CodeFailed if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeFailed
}
