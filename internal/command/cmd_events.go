package command

import (
	"bufio"
	"context"
	"encoding/json"
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
	var o struct {
		From int `flag:"from" usage:"number of the first event to print"`
	}
	c := command("watch", oneJob, func(cmd *cobra.Command, args []string) error {
		r, err := named(args)
		if err != nil {
			return err
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
		keep := &keeper{h: r.Home}
		events := eventPrinter{out: out, enc: json.NewEncoder(out), asJSON: wantJSON(cmd)}
		return rundir.Events(ctx, r, int64(o.From), events.print, func(goesOn bool) error {
			events.tellQueued()
			if err := out.Flush(); err != nil || !goesOn {
				return err
			}
			return keep.look(ctx)
		}, rundir.Poll)
	})
	addFlags(c.Flags(), &o)
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

// eventPrinter prints events. Tasks that are queued one after the other get one line.
type eventPrinter struct {
	out         *bufio.Writer
	enc         *json.Encoder
	asJSON      bool
	queued      int          // tasks that are queued and not told yet
	first, last report.Event // of them
}

func (p *eventPrinter) print(e report.Event) error {
	if p.asJSON {
		return p.enc.Encode(e)
	}
	if e.Event == "queued" && e.Task != nil {
		if p.queued == 0 {
			p.first = e
		}
		p.last = e
		p.queued++
		return nil
	}
	p.tellQueued()
	return ui.Say(p.out, "%s", eventLine(e))
}

// tellQueued tells of the tasks that are queued. An error is that of the next Flush, too.
func (p *eventPrinter) tellQueued() {
	switch p.queued {
	case 0:
	case 1:
		_ = ui.Say(p.out, "%s", eventLine(p.first))
	default:
		_ = ui.Say(p.out, "%s %s are queued: %s to %s", p.first.At.Local().Format("15:04:05"), job.Count(p.queued, "task"), p.first.Name, p.last.Name)
	}
	p.queued = 0
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
		words = append(words, "is done after", job.FormatDuration(job.Seconds(*e.Elapsed).Round(time.Millisecond)))
	case e.Event == "ended" && e.Final:
		words = append(words, e.Outcome, "and is not started again")
	case e.Event == "ended":
		words = append(words, e.Outcome)
	case e.Event == "set":
		words = append(words, "has other options")
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
