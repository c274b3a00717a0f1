package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/show/results"
	"berth/internal/sys/statedir"
)

func newCat() *cobra.Command {
	var o catting
	c := command("cat", nil, func(cmd *cobra.Command, args []string) error {
		if wantJSON(cmd) {
			return job.ArgumentError("--json", "the output of tasks is printed unchanged, not as JSON", "remove --json")
		}
		r, err := named(args)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			args = args[1:]
		}
		return o.cat(cmd, r, args)
	})
	addFlags(c.Flags(), &o)
	c.MarkFlagsMutuallyExclusive("follow", "tag")
	return c
}

// catting is what berth cat prints.
type catting struct {
	Stderr bool `flag:"stderr" usage:"print the standard error of the tasks instead"`
	Tag    bool `flag:"tag" usage:"start each line with the entry of its task and a tab"`
	Follow bool `flag:"follow,f" usage:"print the output of one task while it runs, until it ends"`
}

func (o catting) cat(cmd *cobra.Command, r statedir.Run, names []string) error {
	spec, entries, err := r.Load()
	if err != nil {
		return err
	}
	if spec.Kind == job.MapReduce {
		if len(names) > 0 || o != (catting{}) {
			return job.ArgumentError(string(r.ID), "the output of a MapReduce job is printed as a whole", "name only the job, without tasks, --stderr, --tag or --follow")
		}
		return results.Parts(cmd.Context(), cmd.OutOrStdout(), spec.MapReduce)
	}
	thrifty()
	p := results.NewPrinter(spec, entries, results.Options{Tag: o.Tag, Early: len(names) == 0 && !o.Follow})
	p.Out = cmd.OutOrStdout()
	if o.Stderr {
		p.Out, p.Err = nil, p.Out
	}
	tasks, err := p.Find(names)
	if err != nil {
		return err
	}
	look, err := results.Known(r, p)
	if err != nil {
		return err
	}
	from := atCoordinator{control.NewClient(r.Home), r.ID}
	note := func(text string) { cmd.PrintErrln(text) }
	if !o.Follow {
		return printTasks(cmd.Context(), p, tasks, len(names) > 0, from, look, note)
	}
	if len(tasks) != 1 {
		return job.ArgumentError("--follow", "it prints the output of one task", "name the task, as in: berth cat --follow "+string(r.ID)+" 1")
	}
	return p.Tail(cmd.Context(), tasks[0], from, func() (bool, error) {
		v, err := view(cmd.Context(), r)
		if err != nil {
			return false, err
		}
		return over(v) || v.State == report.StateInterrupted, look()
	}, note)
}

// printTasks prints the outputs of tasks, and of those that run what they have printed so far. named says that the user named the
// tasks.
func printTasks(ctx context.Context, p *results.Printer, tasks []int, named bool, from results.Running, look func() error, note func(string)) error {
	err := look()
	if err != nil {
		return err
	}
	var attempts []report.RunningAttempt
	if len(p.Unfinished(tasks)) > 0 { // else no coordinator is needed
		if attempts, err = from.Attempts(ctx); control.Silent(err) {
			note(err.Error())
		} else if err != nil {
			return err
		}
		if err = look(); err != nil { // for tasks that have ended meanwhile
			return err
		}
	}
	running := make(map[int]report.RunningAttempt)
	for _, a := range slices.Backward(attempts) {
		running[a.Task] = a
	}
	var run, stopped, waiting []int
	now := make(map[int]bool)
	for _, task := range p.Unfinished(tasks) {
		if _, runs := running[task]; runs {
			run, now[task] = append(run, task), true
		} else if p.Began(task) {
			stopped = append(stopped, task)
		} else if named {
			waiting = append(waiting, task)
		}
	}
	say(p, waiting, note, "has not started", "have not started")
	say(p, run, note, "still runs; its output so far:", "still run; their output so far:")
	say(p, stopped, note, "was stopped; its output until then:", "were stopped; their output until then:")
	for _, task := range tasks[p.Printed():] {
		if now[task] {
			err = p.PrintRunning(ctx, from, running[task])
		} else {
			err = p.Print(task)
		}
		if err != nil {
			return err
		}
	}
	return p.Missing()
}

// maxSaid is how many tasks a note names.
const maxSaid = 8

// say notes what is special about the output of some tasks.
func say(p *results.Printer, tasks []int, note func(string), one, many string) {
	var names []string
	for _, task := range tasks[:min(len(tasks), maxSaid)] {
		names = append(names, p.Name(task))
	}
	switch {
	case len(tasks) == 1:
		note("task " + names[0] + " " + one)
	case len(tasks) > maxSaid:
		note(fmt.Sprintf("tasks %s and %d more %s", strings.Join(names, ", "), len(tasks)-maxSaid, many))
	case len(tasks) > 1:
		note("tasks " + strings.Join(names, ", ") + " " + many)
	}
}

// atCoordinator asks the coordinator what runs. Where there is none, or it does not have the job any more, nothing is
// known to run.
type atCoordinator struct {
	*control.Client
	id job.ID
}

func (c atCoordinator) Attempts(ctx context.Context) ([]report.RunningAttempt, error) {
	return orNone(c.Client.Running(ctx, c.id))
}

func (c atCoordinator) Printed(ctx context.Context, of job.Attempt, stderr bool, offset int64) ([]byte, error) {
	return orNone(c.Client.Printed(ctx, of, stderr, offset))
}

// orNone has no error where there is no coordinator, or it does not know the job.
func orNone[T any](list []T, err error) ([]T, error) {
	if lost(err) || unknown(err) {
		return nil, nil
	}
	return list, err
}
