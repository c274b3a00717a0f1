package simulation

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"

	"berth/internal/show/ui"
)

// Console is the input and output of a command.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // print the result as JSON and show no progress
}

// Simulate calls run with a context that an interrupt cancels, and with a meter for the progress.
func (c Console) Simulate(ctx context.Context, run func(context.Context, *ui.Meter) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	meter := ui.NewMeter(os.Stderr, c.JSON, os.Getenv)
	defer meter.Close()
	return run(ctx, meter)
}

// Report is a result that can be printed.
type Report interface{ Text(io.Writer) error }

// Print writes the files and prints the report. It prints the report even if the files cannot be
// written, because a simulation may have taken long.
func (c Console) Print(ctx context.Context, r Report, folder string, files []Output) error {
	left := Leave(ctx, folder, files)
	if c.JSON {
		return cmp.Or(ui.JSON(c.Out, r), left)
	}
	return cmp.Or(r.Text(c.Out), left)
}

// ReportFiles returns the report as text and as JSON, in the files name.txt and name.json.
func ReportFiles(name string, r Report) []Output {
	return []Output{{name + ".txt", r.Text}, {name + ".json", func(w io.Writer) error { return ui.JSON(w, r) }}}
}
