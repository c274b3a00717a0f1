package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/server/control"
	"berth/internal/server/queuelog"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// fromLog is the flag that reads the history of a queue from what the accounting of a batch system has printed.
type fromLog struct {
	of   driver.BatchWords
	name string // of the flag
	file string
}

func (f *fromLog) flag(c *cobra.Command) {
	for _, w := range registry.Words() {
		if w.ReadPast != nil {
			command, _, _ := strings.Cut(w.Accounting, " ")
			f.of, f.name = w, "from-"+command
			c.Flags().StringVar(&f.file, f.name, "", "file, or - for standard input, with the jobs of the last days, by which starts are predicted: the output of "+w.Accounting)
		}
	}
}

// read replaces what was seen of the jobs in the queue by those in the file, if one is named.
func (f *fromLog) read(cmd *cobra.Command, h statedir.Home) error {
	if f.file == "" {
		return nil
	}
	if err := f.noCoordinator(cmd.Context(), h); err != nil {
		return err
	}
	text, err := readAll(cmd, f.file)
	if err != nil {
		return job.InputError("--"+f.name, err.Error(), "").Because(err)
	}
	s, err := rundir.Snapshot(cmd.Context(), f.of.Name)
	if err != nil {
		return err
	}
	past, err := f.of.ReadPast(text, f.file, s.Queue.User, s.At.Add(-starts.Kept))
	if err != nil {
		return err
	}
	known, err := queuelog.Replace(h, &s, &past)
	if err == nil {
		_ = ui.Say(cmd.ErrOrStderr(), "%s and %s are known", job.Count(len(known.Ended), "ended job"), job.Count(len(known.Arrived), "arrival"))
	}
	return err
}

// noCoordinator returns an error if one runs: it would write what it has seen over what a command writes.
func (f *fromLog) noCoordinator(ctx context.Context, h statedir.Home) error {
	switch _, err := control.NewClient(h).Hello(ctx); {
	case errors.Is(err, control.ErrNoServer):
		return nil
	case err != nil:
		return err
	}
	return job.ArgumentError("--"+f.name, "a coordinator runs, which keeps what it has seen itself", "end it first with berth server stop")
}

func readAll(cmd *cobra.Command, name string) (string, error) {
	if name != "-" {
		b, err := os.ReadFile(name)
		return string(b), err
	}
	b, err := io.ReadAll(cmd.InOrStdin())
	return string(b), err
}
