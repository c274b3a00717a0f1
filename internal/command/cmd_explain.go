package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newExplain() *cobra.Command {
	return command("explain", oneJob, func(cmd *cobra.Command, args []string) error {
		r, err := named(args)
		if err != nil {
			return err
		}
		p, err := rundir.LoadPlan(r)
		if err != nil {
			return err
		}
		v, err := view(cmd.Context(), r)
		if err != nil {
			return err
		}
		lines := append(append([]string{}, p.Reasons...), p.Notes...)
		for _, later := range v.Plans {
			lines = append(lines, "planned again: "+later.Decision)
		}
		now, err := situation(cmd.Context(), r, v)
		if err != nil {
			return err
		}
		lines = append(lines, now...)
		return Show(cmd, control.Explanation{Lines: lines}, func(w io.Writer) error { return ui.Lines(ui.ForTerminal(w), lines) })
	})
}

// situation says where a job stands: as the coordinator knows, unless the job is over or no
// coordinator has it.
func situation(ctx context.Context, r statedir.Run, v report.JobView) ([]string, error) {
	if over(v) {
		return ui.Ending(v), nil
	}
	now, err := control.NewClient(r.Home).Explain(ctx, r.ID)
	if err == nil && len(now.Lines) > 0 {
		return now.Lines, nil
	}
	if err != nil && !errors.Is(err, control.ErrNoServer) && !unknown(err) {
		return nil, err
	}
	if v, err = rundir.View(r); err != nil {
		return nil, err
	}
	switch {
	case over(v): // by now
		return ui.Ending(v), nil
	case v.State == report.StateInterrupted:
		return []string{"it is interrupted: its coordinator went away; any job that is started, or berth wait, lets it go on"}, nil
	default:
		return []string{"it is " + string(v.State)}, nil
	}
}
