// Package parse reads what users write, on a command line or in a job file: sizes, durations,
// numbers of nodes, array indices, options of a job, and where the tasks of a bag come from. It
// fills in a job.Spec. What is wrong is a *job.Error that names the flag or file:line and says
// what to write.
//
// The package opens no files: entries and job files are read by package cli.
package parse
