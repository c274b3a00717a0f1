// Package ui renders what berth has to say: for a person on a terminal (bars that
// move), for a log (lines with times), and for programs (JSON).
//
// Progress goes to standard error through a Console, results go to standard output
// through the table functions or JSON. What is rendered is a value that is handed
// in, the present time included, so the same view always gives the same text; only
// the terminal's refreshing runs by a clock of its own.
//
// Text of tasks and nodes (names, reasons, last lines of standard error) is not
// trusted: control characters are made visible before they reach a terminal.
package ui
