package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/report"
	"berth/internal/run"
	"berth/internal/ui"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain [JOB]", Short: "Say why a job is planned as it is and what it waits for", Args: oneJob,
		Example: "  berth explain mr-3\n  berth explain --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, r, err := named(args)
			if err != nil {
				return err
			}
			p, err := run.LoadPlan(r)
			if err != nil {
				return err
			}
			v, err := view(cmd.Context(), h, r)
			if err != nil {
				return err
			}
			lines := append(append([]string{}, p.Reasons...), p.Notes...)
			for _, later := range v.Plans {
				lines = append(lines, "planned anew: "+later.Decision)
			}
			now, err := situation(cmd.Context(), h, r, v)
			if err != nil {
				return err
			}
			lines = append(lines, now...)
			if wantJSON(cmd) {
				return ui.JSON(cmd.OutOrStdout(), control.Explanation{Lines: lines})
			}
			return ui.Explain(ui.ForTerminal(cmd.OutOrStdout()), lines)
		},
	}
}

// situation says where a job stands: as the coordinator knows, unless the job is over or no
// coordinator has it.
func situation(ctx context.Context, h home.Home, r home.Run, v report.JobView) ([]string, error) {
	if over(v) {
		return ending(v), nil
	}
	now, err := control.NewClient(h.Socket()).Explain(ctx, r.ID)
	if !errors.Is(err, control.ErrNoServer) && !unknown(err) {
		return now, err
	}
	if v, err = run.View(r); err != nil {
		return nil, err
	}
	switch {
	case over(v): // by now
		return ending(v), nil
	case v.State == report.StateInterrupted:
		return []string{"it is interrupted: its coordinator went away; any job that is started, or berth wait, lets it go on"}, nil
	default:
		return []string{"it is " + v.State}, nil
	}
}

// ending says how a job ended and what can be done about it.
func ending(v report.JobView) []string {
	var lines []string
	switch v.State {
	case string(event.StateDone):
		return []string{fmt.Sprintf("it is done: %d of %s", v.TasksDone, counted(v.TasksTotal))}
	case string(event.StateCancelled):
		lines = append(lines, "it was cancelled: "+v.Reason)
	default:
		lines = append(lines, "it failed: "+v.Reason)
	}
	if n := v.TasksTotal - v.TasksDone - v.TasksFailed; n > 0 {
		lines = append(lines, fmt.Sprintf("%s can go on: berth resume %s", counted(n), v.ID))
	}
	if n := v.TasksFailed; n > 0 && v.Kind == job.Bag {
		lines = append(lines, fmt.Sprintf("%s that failed can be tried again: berth resume --failed %s", counted(n), v.ID))
	}
	return lines
}

// counted returns a number of tasks in words.
func counted(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
