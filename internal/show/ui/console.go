package ui

import (
	"io"
	"os"

	"berth/internal/server/report"
)

// Console shows a job while it runs. Each view replaces the one before; each failure and each lost node is reported
// once. Calls must not overlap.
type Console interface {
	// Begin shows the decision and starts to show the job. A second call is an Update.
	Begin(v report.JobView)
	// Update shows the present state of the job.
	Update(v report.JobView)
	// Note shows a line of text.
	Note(text string)
	// End shows the job for the last time, and the closing summary.
	End(v report.JobView)
	// Close stops showing the job, which may go on; after End it does nothing.
	Close()
}

// Mode is the way of showing progress.
type Mode uint8

const (
	// Quiet shows nothing: the result is for a program.
	Quiet Mode = iota
	// Plain writes lines with times, for logs and simple terminals.
	Plain
	// Terminal draws bars.
	Terminal
)

// Options are the target and the form of progress.
type Options struct {
	Out   io.Writer
	Mode  Mode
	Color bool
	Seen  report.JobView // the view that the user has seen: failures in it are not reported again
}

// Detect chooses the form of progress on a file, as a rule standard error: nothing when the result is requested as
// JSON, bars on a terminal that can move its cursor and reports its size, else a plain log. Colours need a terminal
// and no NO_COLOR (no-color.org: set and not empty).
func Detect(f *os.File, json bool, getenv func(string) string) Options {
	columns, lines, _ := terminalSize(f)
	switch {
	case json:
		return Options{Out: f, Mode: Quiet}
	case columns > 0 && lines > 0 && clever(getenv):
		return Options{Out: f, Mode: Terminal, Color: StyleOf(f, getenv).Color}
	}
	return Options{Out: f, Mode: Plain, Color: StyleOf(f, getenv).Color}
}

// New returns a console in the mode of the options.
func New(o Options) Console {
	if o.Mode == Terminal {
		return &terminal{area: newArea(o.Out), color: color(o.Color), news: knowing(o.Seen)}
	}
	if o.Mode == Quiet {
		o.Out = io.Discard
	}
	return &plain{out: o.Out, color: color(o.Color), news: knowing(o.Seen)}
}
