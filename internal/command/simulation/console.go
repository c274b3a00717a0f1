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

// simulate calls run with a context that an interrupt cancels, and with a meter for the progress.
func (c Console) simulate(ctx context.Context, run func(context.Context, *ui.Meter) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	meter := ui.NewMeter(os.Stderr, c.JSON, os.Getenv)
	defer meter.Close()
	return run(ctx, meter)
}

// report is a result that can be printed.
type report interface{ Text(io.Writer) error }

// print writes the files and prints the report. It prints the report even if the files cannot be
// written, because a simulation may have taken long.
func (c Console) print(ctx context.Context, r report, folder string, files []output) error {
	left := leave(ctx, folder, files)
	if c.JSON {
		return cmp.Or(ui.JSON(c.Out, r), left)
	}
	return cmp.Or(r.Text(c.Out), left)
}

// reportFiles returns the report as text and as JSON, in the files name.txt and name.json.
func reportFiles(name string, r report) []output {
	return []output{{name + ".txt", r.Text}, {name + ".json", func(w io.Writer) error { return ui.JSON(w, r) }}}
}
