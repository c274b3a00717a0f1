package command

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// attachment says how a command follows a job.
type attachment struct {
	owner bool           // an interrupt cancels the job; otherwise it ends only the command
	told  report.JobView // the state of the job that was shown to the user before
}

// showToEnd shows a job until it is over and returns its final state. An interrupt by its
// owner cancels the job. Tasks that are done stay done.
func showToEnd(cmd *cobra.Command, r statedir.Run, a attachment) (report.JobView, error) {
	opts := ui.Detect(os.Stderr, wantJSON(cmd), os.Getenv)
	opts.Seen = a.told
	if _, wanted := resultsWanted(cmd); (wanted || ungrouped(cmd)) && opts.Mode == ui.Terminal {
		opts.Mode = ui.Plain // progress bars would overwrite the printed output
	}
	console, err := withResults(cmd, r, newConsole(cmd, r, opts))
	if err != nil {
		return report.JobView{}, err
	}
	defer console.Close()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	v, err := follow(ctx, r, console)
	if ctx.Err() != nil && !over(v) {
		if !a.owner {
			return v, left(r, "continues without this command")
		}
		console.Note("interrupted; cancelling the job")
		v, err = cancelled(r, console)
		if errors.Is(err, context.Canceled) {
			return v, left(r, "is still being cancelled")
		}
	}
	if err != nil {
		return v, err
	}
	console.End(v)
	return v, console.err
}

// left returns the error of a command that ended before its job.
func left(r statedir.Run, how string) error {
	return &job.Error{Class: job.User, Code: job.CodeInterrupted, What: string(r.ID) + " " + how,
		Do: "see how it ends with: berth wait " + string(r.ID)}
}

// cancelled cancels the job and waits for its end; a second interrupt ends the wait.
func cancelled(r statedir.Run, console ui.Console) (report.JobView, error) {
	ctx, stop := interruptible(context.Background())
	defer stop()
	c, err := control.Ensure(ctx, r.Home)
	if err != nil {
		return report.JobView{}, err
	}
	if err := c.Cancel(ctx, r.ID, "interrupted"); err != nil && job.ClassOf(err) != job.User {
		return report.JobView{}, err // a job that has just ended cannot be cancelled, and need not be
	}
	return follow(ctx, r, console)
}

// follow watches a job to its end. If the coordinator dies, follow starts another one,
// which continues the job.
func follow(ctx context.Context, r statedir.Run, console ui.Console) (report.JobView, error) {
	var last report.JobView
	begun, full := false, false
	see := func(w control.Watched) {
		last = withoutMissingOutput(w.View)
		if !begun {
			begun = true
			console.Begin(last)
		}
		console.Update(last)
		if w.Full && !full {
			console.Note(fullText(r.Home))
		}
		full = w.Full
	}
	lost := false
	err := control.Call(ctx, r.Home, func(c *control.Client) error {
		if lost {
			console.Note("the coordinator went away; another one goes on")
		}
		lost = true
		return c.Watch(ctx, r.ID, see)
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return last, ctx.Err()
	case unknown(err): // the coordinator does not know the job, so it is over
		v, err := rundir.View(r)
		if err == nil {
			see(control.Watched{View: v})
		}
		return last, err
	}
	return last, err
}
