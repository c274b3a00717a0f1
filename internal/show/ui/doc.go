// Package ui renders everything that berth writes: for a person on a terminal (bars that move), for a log (lines with
// times), and for programs (JSON).
//
//	console := ui.New(ui.Detect(os.Stderr, asJSON, os.Getenv))
//	console.Begin(view); console.Update(view); console.End(view)
//	err := ui.Report(os.Stdout, view)
//
// Progress goes to standard error through a Console, results go to standard output through the table functions or
// JSON. A function renders the value that it is given, the present time included, so the same view always gives the
// same text; only the refreshing of a terminal uses its own clock. The package decides nothing, and reads and writes
// no files of jobs.
//
// Text of tasks and nodes (names, reasons, last lines of standard error) is not trusted: control characters are made
// visible before they reach a terminal.
package ui
