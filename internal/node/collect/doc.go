// Package collect stores what many tasks of a bag print in a few files, one for each process that runs tasks, instead
// of two files for each task. It writes these files and finds the outputs of an attempt in them. It does not know which
// attempt did a task: its callers do.
package collect
