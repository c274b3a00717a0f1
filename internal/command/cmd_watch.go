package command

import (
	"io"

	"github.com/spf13/cobra"

	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newProgress() *cobra.Command {
	var o struct {
		Follow bool `flag:"follow,f" usage:"show progress until the job is over; an interrupt ends the command, not the job"`
	}
	c := command("progress", oneJob, func(cmd *cobra.Command, args []string) error {
		if o.Follow {
			return kindError("", await(cmd, args))
		}
		r, err := named(args)
		if err != nil {
			return err
		}
		v, err := view(cmd.Context(), r)
		if err != nil {
			return err
		}
		return Show(cmd, v, func(w io.Writer) error { return ui.Progress(ui.ForTerminal(w), v, 0) })
	})
	addFlags(c.Flags(), &o)
	return c
}

func newWait() *cobra.Command {
	c := command("wait", cobra.ArbitraryArgs, await)
	addResultFlags(c.Flags())
	return forEitherKind(c)
}

// await shows the jobs that the arguments name, one after the other, until they are over. It returns the error of the exit code of the
// first that is not done.
func await(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		args = []string{"last"}
	}
	var runs []statedir.Run
	for i := range args {
		r, err := named(args[i : i+1])
		if err != nil {
			return err
		}
		if err := checkResults(cmd, statedir.KindOf(r.ID), false); err != nil {
			return kindError(statedir.KindOf(r.ID), err)
		}
		runs = append(runs, r)
	}
	var views []report.JobView
	var first error // of a job that is not done
	for _, r := range runs {
		v, err := showToEnd(cmd, r, attachment{})
		if err != nil {
			return kindError(statedir.KindOf(r.ID), err)
		}
		if views = append(views, v); first == nil {
			first = jobExit(v)
		}
	}
	var told any = views[0]
	if len(views) > 1 {
		told = control.Jobs{Jobs: views}
	}
	if wantJSON(cmd) {
		if err := ui.JSON(cmd.OutOrStdout(), told); err != nil {
			return err
		}
	}
	return first
}

// named opens the state folder and finds the job that the arguments name, the last one by default.
func named(args []string) (statedir.Run, error) {
	h, err := statedir.Open()
	if err != nil {
		return statedir.Run{}, err
	}
	name := "last"
	if len(args) > 0 {
		name = args[0]
	}
	return find(h, name)
}
