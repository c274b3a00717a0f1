package command

import (
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newAdd() *cobra.Command {
	var a adding
	c := command("add", someJobs, func(cmd *cobra.Command, args []string) error { return a.run(cmd, args) })
	a.entries.Register(c.Flags())
	addFlags(c.Flags(), &a)
	return c
}

// adding is a call of berth add.
type adding struct {
	entries cli.AddOptions
	Tasks   string `flag:"tasks" usage:"file with a task on each line, as a JSON object (- is standard input)"`
	Key     string `flag:"once" usage:"add nothing if a call with this key has been made"`
}

func (a *adding) run(cmd *cobra.Command, args []string) error {
	r, err := named(args[:1])
	if err != nil {
		return err
	}
	req := control.Add{Key: a.Key}
	if req.Key == "" {
		req.Key = rand.Text() // the call is repeated if a coordinator dies before it answers
	}
	if a.Tasks != "" {
		err = a.lines(cmd, args[1:], &req)
	} else {
		err = a.values(cmd, r, args[1:], &req)
	}
	if err != nil {
		return err
	}
	var added control.Added
	err = control.Call(cmd.Context(), r.Home, func(c *control.Client) (err error) {
		added, err = c.Add(cmd.Context(), r.ID, req)
		return err
	})
	if err != nil {
		return err
	}
	return tellAdded(cmd, r.ID, added)
}

// lines reads tasks in lines of JSON.
func (a *adding) lines(cmd *cobra.Command, rest []string, req *control.Add) error {
	if len(rest) > 0 {
		return job.ArgumentError(rest[0], "tasks come from --tasks, and no entries with them", "make two calls")
	}
	in, err := cli.ReadLines(a.Tasks, cmd.InOrStdin())
	if err != nil {
		return err
	}
	req.From, req.Tasks = in.From, in.Texts
	return nil
}

// values reads entries for the command of the bag.
func (a *adding) values(cmd *cobra.Command, r statedir.Run, rest []string, req *control.Add) error {
	spec, err := r.Spec()
	if err != nil {
		return err
	}
	if spec.Bag == nil || !spec.Bag.Open {
		return job.ArgumentError(string(r.ID), "the job is not an open bag", "submit one with: berth bag --open")
	}
	entries, needs, err := a.entries.Entries(spec, rest, piped(cmd))
	req.Needs = needs
	for _, e := range entries {
		words := make([][]byte, len(e))
		for i, w := range e {
			words[i] = []byte(w)
		}
		req.Entries = append(req.Entries, words)
	}
	return err
}

// tellAdded says which tasks were added.
func tellAdded(cmd *cobra.Command, id job.ID, added control.Added) error {
	v := ui.Added{Added: make([]int, added.Tasks)}
	for i := range v.Added {
		v.Added[i] = added.First + i
	}
	what := "no task was added to"
	if n := added.First + added.Tasks; added.Tasks == 1 {
		what = fmt.Sprintf("task %d was added to", n)
	} else if added.Tasks > 1 {
		what = fmt.Sprintf("tasks %d to %d were added to", added.First+1, n)
	}
	return reply(cmd, v, "%s %s", what, id)
}

func newClose() *cobra.Command {
	return command("close", oneBag, func(cmd *cobra.Command, args []string) error {
		r, err := named(args)
		if err != nil {
			return err
		}
		err = control.Call(cmd.Context(), r.Home, func(c *control.Client) error { return c.CloseBag(cmd.Context(), r.ID) })
		if err != nil {
			return err
		}
		return reply(cmd, ui.Submitted{ID: r.ID}, "%s gets no more tasks", r.ID)
	})
}
