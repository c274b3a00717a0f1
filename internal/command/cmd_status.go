package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newStatus() *cobra.Command {
	var s selection
	c := command("status", nil, func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return statusOf(cmd, args)
		}
		if err := s.check(cmd, time.Now()); err != nil {
			return err
		}
		h, err := statedir.Existing()
		if err != nil {
			return err
		}
		debug.SetGCPercent(400) // what lists take is little, and to collect garbage meanwhile would take longer than to read a folder
		s.table = !wantJSON(cmd)
		list, more, err := s.views(cmd.Context(), h)
		if err != nil {
			return err
		}
		return Show(cmd, report.NewStatusList(list, more), func(w io.Writer) error {
			err := ui.Status(ui.ForTerminal(w), list, more)
			warnDamaged(cmd, list)
			hello := warnFull(cmd, h)
			for _, l := range hello.Limits {
				err = errors.Join(err, ui.Say(w, "limit of %s", l.Words()))
			}
			return err
		})
	})
	s.flags(c)
	return c
}

// statusOf prints the state of one job and of its tasks.
func statusOf(cmd *cobra.Command, args []string) error {
	r, err := named(args)
	if err != nil {
		return err
	}
	if !wantJSON(cmd) && len(args) > 1 {
		words, err := states(cmd.Context(), r, args[1:])
		return errors.Join(ui.Lines(cmd.OutOrStdout(), words), err)
	}
	if !wantJSON(cmd) {
		v, err := brief(cmd.Context(), r)
		if err != nil {
			return err
		}
		warnFull(cmd, r.Home)
		return ui.Status(cmd.OutOrStdout(), []report.JobView{v}, 0)
	}
	thrifty()
	v, err := view(cmd.Context(), r)
	if err != nil {
		return err
	}
	tasks, err := rundir.Tasks(r, args[1:])
	if err != nil {
		return err
	}
	return ui.JSONList(cmd.OutOrStdout(), report.NewStatusList([]report.JobView{v}, 0).Jobs[0], "tasks", withHosts(tasks, v.Nodes))
}

// thrifty has a command that reads all tasks of a job collect its garbage before that is much: a task leaves a lot of it, and little that stays.
func thrifty() { debug.SetGCPercent(20) }

// states returns a word for the state of each of some tasks. The coordinator knows it of the jobs that it has in memory; of others the
// journal is read. If one of the tasks is not over and there is no coordinator, one is started: a script that asks again and again waits for them.
func states(ctx context.Context, r statedir.Run, names []string) ([]string, error) {
	words, unknown := control.NewClient(r.Home).States(ctx, r.ID, names)
	if unknown == nil {
		return words, nil
	}
	fold, err := rundir.Fold(r)
	if err != nil {
		return nil, err
	}
	tasks, err := fold.Find(names)
	words = fold.States(tasks)
	if err == nil && lost(unknown) && (slices.Contains(words, "waiting") || slices.Contains(words, "running")) {
		if _, err := control.Ensure(ctx, r.Home); err != nil { // who asks again tries again
			control.Tell(ctx, fmt.Sprintf("the job does not go on: %v", err))
		}
	}
	return words, err
}

// withHosts adds the names of hosts to attempts, which the journal of a job does not have.
func withHosts(tasks iter.Seq2[report.TaskStatus, error], nodes []report.NodeView) iter.Seq2[report.TaskStatus, error] {
	hosts := make(map[string]string)
	for _, n := range nodes {
		hosts[n.Node] = n.Host
	}
	return func(yield func(report.TaskStatus, error) bool) {
		for t, err := range tasks {
			for i := range t.Tries {
				t.Tries[i].Host = cmp.Or(t.Tries[i].Host, hosts[t.Tries[i].Node])
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// warnDamaged prints why runs cannot be read.
func warnDamaged(cmd *cobra.Command, all []report.JobView) {
	for _, v := range all {
		if v.State == report.StateDamaged {
			warn(cmd, []string{string(v.ID) + ": " + v.Reason})
		}
	}
}

// warnFull says that the disk of the state folder is full, if the coordinator has found that.
func warnFull(cmd *cobra.Command, h statedir.Home) control.Hello {
	hello, err := control.NewClient(h).Hello(cmd.Context())
	if err == nil && hello.Full {
		warn(cmd, []string{fullText(h)}) // what the list is made of has told an error
	}
	return hello
}

// fullText says that the disk of the state folder is full.
func fullText(h statedir.Home) string {
	return fmt.Sprintf("the disk of %s is full: nothing is started until there is room; tasks that run go on", h.Dir)
}
