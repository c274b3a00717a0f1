package main

import (
	"io"

	"github.com/spf13/cobra"

	"berth/internal/home"
	"berth/internal/report"
	"berth/internal/run"
	"berth/internal/store"
	"berth/internal/ui"
)

func newReport() *cobra.Command {
	var tasks, accuracy bool
	c := &cobra.Command{
		Use: "report [JOB]", Short: "Tell what a job took, phase by phase, beside what was predicted", Args: oneJob,
		Long: `Tell what a job took: durations, bytes, CPU time and memory of its phases, attempts and
failures, and the predicted time beside the actual one. With --tasks each attempt
has a line; with --accuracy the predictions of all runs are judged: how far the start,
the run time and the turnaround lay from what was predicted, in total and for each
application.`,
		Example: "  berth report\n  berth report mr-3 --tasks\n  berth report --accuracy --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if accuracy {
				return reportAccuracy(cmd)
			}
			h, r, err := named(args)
			if err != nil {
				return err
			}
			if tasks {
				return reportTasks(cmd, r)
			}
			return reportJob(cmd, h, r)
		},
	}
	c.Flags().BoolVar(&tasks, "tasks", false, "list every attempt with its phases")
	c.Flags().BoolVar(&accuracy, "accuracy", false, "judge the predictions of all runs")
	c.MarkFlagsMutuallyExclusive("tasks", "accuracy")
	return c
}

func reportJob(cmd *cobra.Command, h home.Home, r home.Run) error {
	v, err := view(cmd.Context(), h, r)
	if err != nil {
		return err
	}
	return show(cmd, v, func(w io.Writer) error { return ui.Report(ui.ForTerminal(w), v) })
}

func reportTasks(cmd *cobra.Command, r home.Run) error {
	rows := []report.AttemptRow{}
	fold, err := run.Fold(r, func(row report.AttemptRow) { rows = append(rows, row) })
	if err != nil {
		return err
	}
	return show(cmd, report.Full{JobView: fold.Unattended(), Rows: rows}, func(w io.Writer) error { return ui.Rows(w, rows) })
}

func reportAccuracy(cmd *cobra.Command) error {
	h, err := home.Open()
	if err != nil {
		return err
	}
	s, err := store.Open(cmd.Context(), h.Database())
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	a, err := s.Accuracy(cmd.Context(), "")
	if err != nil {
		return err
	}
	return show(cmd, a, func(w io.Writer) error { return ui.Accuracy(ui.ForTerminal(w), a) })
}
