package command

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newWatch() *cobra.Command {
	var from int64
	c := &cobra.Command{
		Use: "watch [JOB]", Short: "Print what happens to the tasks of a job", Args: oneJob,
		Long: `Print a line for everything that happens to the tasks of a job, from its beginning until it is over: a task
is queued, started or skipped, and an attempt ends. The lines are numbered from 0. A command that goes on
where an earlier one ended gets each line once: --from is the number of the first line.`,
		Example: "  berth watch bag-7\n  berth watch bag-7 --json --from 120",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, r, err := named(args)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
			keep := &keeper{h: h}
			return rundir.Events(ctx, r, from, eventPrinter(out, wantJSON(cmd)), func(goesOn bool) error {
				if err := out.Flush(); err != nil || !goesOn {
					return err
				}
				return keep.look(ctx)
			}, rundir.Poll)
		},
	}
	c.Flags().Int64Var(&from, "from", 0, "number of the first line to print")
	return c
}

// keeper sees to it that a coordinator runs while a job is not over.
type keeper struct {
	h    statedir.Home
	next time.Time
}

// keepEvery is how often a command that reads only files looks for the coordinator.
const keepEvery = 2 * time.Second

func (k *keeper) look(ctx context.Context) error {
	now := time.Now()
	if now.Before(k.next) {
		return nil
	}
	k.next = now.Add(keepEvery)
	_, err := control.Ensure(ctx, k.h)
	return err
}

// eventPrinter returns the function that prints an event.
func eventPrinter(out io.Writer, asJSON bool) func(report.Event) error {
	if asJSON {
		enc := json.NewEncoder(out)
		return func(e report.Event) error { return enc.Encode(e) }
	}
	return func(e report.Event) error {
		return ui.Say(out, "%s", eventLine(e))
	}
}

// eventLine describes an event in one line.
func eventLine(e report.Event) string {
	words := []string{e.At.Local().Format("15:04:05")}
	if e.Task != nil {
		words = append(words, "task", e.Name)
	} else {
		words = append(words, "the job")
	}
	switch {
	case e.Event == "started":
		words = append(words, "started on", e.Node)
	case e.Event == "ended" && e.Outcome == "done":
		words = append(words, "is done after", job.FormatDuration(time.Duration(*e.Elapsed*float64(time.Second)).Round(time.Millisecond)))
	case e.Event == "ended" && e.Final:
		words = append(words, e.Outcome, "and is not started again")
	case e.Event == "ended":
		words = append(words, e.Outcome)
	case e.Event == "over":
		words = append(words, "is", e.State)
	default:
		words = append(words, "is", e.Event)
	}
	s := strings.Join(words, " ")
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}
