package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newReport() *cobra.Command {
	var since selection
	o := struct {
		Tasks    bool   `flag:"tasks" usage:"list every attempt with its phases"`
		Nodes    bool   `flag:"nodes" usage:"draw the use of the nodes over time"`
		SVG      string `flag:"svg" usage:"write the drawing of --nodes into this file"`
		Accuracy bool   `flag:"accuracy" usage:"compare the predictions of all runs with the measured times"`
		Slow     bool   `flag:"slow-nodes" usage:"say how often nodes were slow, by hour and by node"`
		By       string `flag:"by" usage:"with --since: sum up by application, partition or account"`
	}{By: "application"}
	c := command("report", func(cmd *cobra.Command, args []string) error {
		switch {
		case o.Nodes || o.SVG != "":
			return nil
		case since.Since != "" && len(args) > 0:
			return job.ArgumentError("", "--since sums up all jobs, and takes none", "omit "+args[0]+", or --since")
		case since.Since == "" && cmd.Flags().Changed("by"):
			return job.ArgumentError("", "--by goes with --since", "add --since 7d, for instance")
		case since.Since != "":
			return nil
		}
		return oneJob(cmd, args)
	}, func(cmd *cobra.Command, args []string) error {
		if o.Accuracy {
			return reportHistory(cmd, func(s *history.Store, ctx context.Context) (history.Accuracy, error) { return s.Accuracy(ctx, "") }, ui.Accuracy)
		}
		if o.Slow {
			return reportHistory(cmd, (*history.Store).Slowness, ui.Slowness)
		}
		if o.Nodes || o.SVG != "" {
			return reportNodes(cmd, args, o.SVG)
		}
		if since.Since != "" {
			return reportCores(cmd, &since, o.By)
		}
		r, err := named(args)
		if err != nil {
			return err
		}
		if o.Tasks {
			return reportTasks(cmd, r)
		}
		return reportJob(cmd, r)
	})
	addFlags(c.Flags(), &o)
	c.Flags().StringVar(&since.Since, "since", "", "sum up the core-hours of jobs since then (2h, 7d, 2026-11-22, 2026-11-22 14:00)")
	c.MarkFlagsMutuallyExclusive("tasks", "accuracy", "nodes", "slow-nodes", "since")
	c.MarkFlagsMutuallyExclusive("tasks", "accuracy", "svg", "slow-nodes", "since")
	return c
}

func reportJob(cmd *cobra.Command, r statedir.Run) error {
	v, err := view(cmd.Context(), r)
	if err != nil {
		return err
	}
	v = withoutMissingOutput(v)
	return display(cmd, v, ui.Report)
}

func reportTasks(cmd *cobra.Command, r statedir.Run) error {
	if wantJSON(cmd) { // report.Full
		thrifty()
		fold, err := rundir.Fold(r)
		if err != nil {
			return err
		}
		return ui.JSONList(cmd.OutOrStdout(), fold.Unattended(), "rows", rundir.Rows(r))
	}
	rows, err := rowsOf(r)
	if err != nil {
		return err
	}
	return ui.Rows(cmd.OutOrStdout(), rows)
}

// rowsOf returns all attempts of a run that are over.
func rowsOf(r statedir.Run) (rows []report.AttemptRow, err error) {
	for row, err := range rundir.Rows(r) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// reportNodes tells what jobs took of their nodes over time, and draws it into a file if one is named.
func reportNodes(cmd *cobra.Command, args []string, svg string) error {
	usage, ids, views := report.NewUsage(), []job.ID{}, []report.NodeView{}
	if len(args) == 0 {
		args = []string{"last"}
	}
	for _, name := range args {
		r, err := named([]string{name})
		if err != nil {
			return err
		}
		v, err := view(cmd.Context(), r)
		if err != nil {
			return err
		}
		if err := rundir.FoldUsage(r, usage); err != nil {
			return err
		}
		ids, views = append(ids, r.ID), append(views, v.Nodes...)
	}
	v := usage.View(ids, views)
	if svg != "" {
		var b bytes.Buffer
		if err := ui.UsageSVG(&b, v); err != nil {
			return err
		}
		if err := os.WriteFile(svg, b.Bytes(), 0o666); err != nil { // the user's mask says who else may read it
			return statedir.WriteError(svg, err)
		}
	}
	return Show(cmd, v, func(w io.Writer) error { return ui.Usage(w, v, ui.StyleOf(w, os.Getenv)) })
}

// reportCores sums up the core-hours of jobs.
func reportCores(cmd *cobra.Command, since *selection, by string) error {
	if err := since.check(cmd, time.Now()); err != nil {
		return err
	}
	since.All = true
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	views, _, err := since.views(cmd.Context(), h)
	if err != nil {
		return err
	}
	a, ok := report.NewAccount(views, since.cutoff, by)
	if !ok {
		return job.ArgumentError("", fmt.Sprintf("--by: jobs have no %q", by), "write application, partition or account")
	}
	return display(cmd, a, ui.Account)
}

// reportHistory prints what the history of all runs says.
func reportHistory[V any](cmd *cobra.Command, read func(*history.Store, context.Context) (V, error), print func(io.Writer, V) error) error {
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	s, err := history.Open(cmd.Context(), h.Database())
	if err != nil {
		return err
	}
	defer s.Close()
	v, err := read(s, cmd.Context())
	if err != nil {
		return err
	}
	return display(cmd, v, print)
}
