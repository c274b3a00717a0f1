package ui

import (
	"io"
	"os"
	"time"

	"berth/internal/report"
)

// Console shows a job while it runs. Views are shown as they are given; the failures
// and lost nodes in them are told once each. Calls must not be made at the same time.
type Console interface {
	// Begin says what was decided, and begins to show the job. A second call is an Update.
	Begin(v report.JobView)
	// Update shows the job as it is now.
	Update(v report.JobView)
	// Failure tells of a failed attempt, if Update did not already.
	Failure(f report.Failure)
	// Note tells a line of text.
	Note(text string)
	// End shows the job for the last time, and the closing summary.
	End(v report.JobView)
	// Close stops showing the job, which may go on; after End it does nothing.
	Close()
}

// Mode is how progress is shown.
type Mode uint8

const (
	// Quiet shows nothing: the result is for a program.
	Quiet Mode = iota
	// Plain writes lines with times, for logs and simple terminals.
	Plain
	// Terminal draws bars.
	Terminal
)

// Options say where and how progress is shown.
type Options struct {
	Out   io.Writer
	Mode  Mode
	Color bool
	Width int            // columns; 0: ask the terminal
	Zone  *time.Location // of the times in a plain log; nil: local
	Told  report.JobView // the job as its user knows it: failures in it are not told again
}

// Detect chooses how to show progress on a file, standard error as a rule: nothing
// when the result is asked for as JSON, bars on a terminal that can move its cursor
// and tells its size, else a plain log. Colours need a terminal and no NO_COLOR
// (no-color.org: set and not empty).
func Detect(f *os.File, json bool, getenv func(string) string) Options {
	o := Options{Out: f, Mode: Plain}
	if json {
		o.Mode = Quiet
		return o
	}
	if columns, lines, ok := terminalSize(f); ok && clever(getenv) {
		o.Color = getenv("NO_COLOR") == ""
		if columns > 0 && lines > 0 {
			o.Mode = Terminal
		}
	}
	return o
}

// New returns a console of the chosen kind.
func New(o Options) Console {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	switch o.Mode {
	case Plain:
		return &plain{out: o.Out, zone: o.Zone, color: color(o.Color), news: knowing(o.Told)}
	case Terminal:
		return &terminal{out: o.Out, front: newForegroundWriter(o.Out), width: o.Width, color: color(o.Color), news: knowing(o.Told)}
	default:
		return quiet{}
	}
}

// quiet shows nothing.
type quiet struct{}

func (quiet) Begin(report.JobView)   {}
func (quiet) Update(report.JobView)  {}
func (quiet) Failure(report.Failure) {}
func (quiet) Note(string)            {}
func (quiet) End(report.JobView)     {}
func (quiet) Close()                 {}
