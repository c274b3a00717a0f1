package simulate

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"

	"berth/internal/ui"
)

// Console is what a command reads from and writes to.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // the result is printed as JSON and no progress is shown
}

// simulate calls run with a context that an interrupt cancels, and shows how far it is.
func (c Console) simulate(ctx context.Context, run func(context.Context, *ui.Meter) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	meter := ui.NewMeter(os.Stderr, c.JSON, os.Getenv)
	defer meter.Close()
	return run(ctx, meter)
}

// report is a result that can be printed.
type report interface{ Text(io.Writer) error }

// print writes files and prints the report. The report is printed even if files cannot be
// written, as a simulation may have taken long.
func (c Console) print(ctx context.Context, r report, folder string, files []output) error {
	left := leave(ctx, folder, files)
	if c.JSON {
		return cmp.Or(ui.JSON(c.Out, r), left)
	}
	return cmp.Or(r.Text(c.Out), left)
}

// reportFiles are the report as text and as JSON, in files that are called name and an ending.
func reportFiles(name string, r report) []output {
	return []output{{name + ".txt", r.Text}, {name + ".json", func(w io.Writer) error { return ui.JSON(w, r) }}}
}
