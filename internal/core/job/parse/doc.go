// Package parse parses the options of jobs, from a command line or from a job file: sizes, durations,
// numbers of nodes, array indices, and the sources of a bag's tasks. Options and BagOptions are the
// tables of all options. A caller collects values in an Ask with Option.Set, and Ask.Apply writes
// them into a job.Spec:
//
//	var a parse.Ask
//	err := option.Set(&a, "--mem", "8G")
//	err = a.Apply(&spec)
//
// Every error is a *job.Error that names the flag or file:line and says what to write.
//
// The package opens no files: package cli reads entries and job files.
package parse
