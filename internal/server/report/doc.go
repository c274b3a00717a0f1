// Package report folds the records of a job into the view that users and programs get: its progress, the
// durations of its phases, its failures, and the predicted beside the actual times.
//
//	j := report.New(info)
//	j.Apply(entry) // for each entry of the journal
//	view := j.View(now)
//
// A Job applies a record in constant time and keeps 8 bytes for each task. So the coordinator and a command
// that reads a journal without a coordinator use the same fold. Reports that are no records, such as the
// progress of running attempts, change only rates and expected ends.
//
// The package reads no clock and no journal: entries and the present time are parameters. Its views are the
// JSON that commands print; docs/json.md lists their keys.
package report
