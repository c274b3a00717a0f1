package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
	"berth/internal/show/ui"
)

// frontFlags are the flags of a front, except the number of tasks.
type frontFlags struct {
	catalogue, input, output, server, taskTime, svg, only, deadline string
	budget, epsilon, spread                                         float64
	tail, boot                                                      bool
}

func (f *frontFlags) register(fs *pflag.FlagSet) {
	if fs.Lookup("catalogue") == nil { // commands that can rent machines have these flags already
		fs.StringVar(&f.catalogue, "catalogue", "", "TOML file with the types of machines and their prices (see docs/rented.md)")
		fs.Float64Var(&f.budget, "budget", 0, "choose the fastest point that costs at most this")
		fs.StringVar(&f.deadline, "deadline", "", "choose the cheapest point whose makespan is at most this, as in 2h")
	}
	fs.StringVar(&f.input, "input", "", "bytes that a task reads from the data server, as in 23.3M")
	fs.StringVar(&f.output, "output", "", "bytes that a task writes to the data server")
	fs.StringVar(&f.server, "server", "", "throughput of the data server for all machines together in bytes per second, as in 100M (default: no limit)")
	fs.StringVar(&f.taskTime, "task-time", "", "computing time of a task on a core of speed 1, as in 30s; the catalogue may give it for each type")
	fs.Float64Var(&f.spread, "spread", 0.3, "standard deviation of task times, divided by their mean")
	fs.Float64Var(&f.epsilon, "epsilon", -1, "precision of the search: a choice outside the front may be better by this share at most; a larger one is used and printed if the search would take too long (default: 0, which is exact, for up to 10^11 choices, otherwise 0.01)")
	fs.BoolVar(&f.tail, "tail", true, "include the time at the end in which machines run out of tasks")
	fs.BoolVar(&f.boot, "boot", true, "include the time until machines are ready")
	fs.StringVar(&f.only, "only", "", "evaluate this configuration only, as in m1.m=30,c1.m=2")
	fs.StringVar(&f.svg, "svg", "", "write a drawing of the front to this file")
}

// take takes over what a job asks for that could rent machines, so that it asks for none, and returns that.
func (f *frontFlags) take(spec *job.Spec) job.Rent {
	asked := spec.Request.Remote.Rent
	spec.Request.Remote.Rent = job.Rent{PassEnv: asked.PassEnv}
	f.catalogue, f.budget = cmp.Or(f.catalogue, asked.Catalogue), cmp.Or(f.budget, asked.Budget)
	if asked.Deadline > 0 {
		f.deadline = fmt.Sprintf("%ds", int(asked.Deadline.Seconds()))
	}
	return asked
}

func newFront() *cobra.Command {
	var f frontFlags
	var tasks int
	c := &cobra.Command{
		Use: "front", Short: "Compare the cost and the makespan of a bag on rented machines", Args: NoArguments,
		Long: `Show the front of a bag of tasks: all choices of machines (types of a catalogue and their
numbers) that no other choice beats in both cost and makespan. Nothing is rented, and no profile is
needed; berth plan bag --front takes task times from the profile of an application.`,
		Example: "  berth front --tasks 1500 --task-time 50 --input 23.3M --server 100M --catalogue types.toml\n" +
			"  berth front --tasks 1500 --task-time 50 --input 23.3M --server 100M --catalogue types.toml --deadline 2h --svg f.svg\n" +
			"  berth front --tasks 1500 --task-time 50 --input 23.3M --server 100M --catalogue types.toml --only m1.m=30 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.show(cmd, front.Bag{Tasks: tasks, Spread: f.spread}, catalogue.Task{Need: job.Resources{CPUs: 1}}, nil)
		},
	}
	c.Flags().IntVar(&tasks, "tasks", 0, "number of tasks")
	f.register(c.Flags())
	return c
}

// show draws the front of a bag on the types of the catalogue and on further ones of speed 1.
func (f *frontFlags) show(cmd *cobra.Command, bag front.Bag, task catalogue.Task, further []front.Type) error {
	v, err := f.view(bag, task, further)
	if err != nil {
		return err
	}
	return show(cmd, v, func(w io.Writer) error { return ui.Front(ui.ForTerminal(w), v) })
}

// view searches that front, and writes the drawing that is asked for.
func (f *frontFlags) view(bag front.Bag, task catalogue.Task, further []front.Type) (v front.View, err error) {
	deadline, err := f.fill(&bag, &task)
	if err != nil {
		return v, err
	}
	types, err := f.types(&bag, task)
	if err != nil {
		return v, err
	}
	for _, t := range further {
		if t.Task = task.Seconds; t.Task > 0 {
			types = append(types, t)
		}
	}
	m := front.NewModel(bag, types)
	set, epsilon, err := f.points(m, types)
	if err != nil {
		return v, err
	}
	v = m.View(set, epsilon)
	if (f.budget > 0 || deadline > 0) && !v.Choose(set, f.budget, deadline) {
		return v, catalogue.NoChoice(v, f.budget)
	}
	if f.svg != "" {
		err = f.draw(v)
	}
	return v, err
}

// fill reads the flags on tasks into what is told of them already, and returns the deadline in seconds.
func (f *frontFlags) fill(bag *front.Bag, task *catalogue.Task) (deadline float64, err error) {
	bag.Tail, bag.Boot = f.tail, f.boot
	if bag.Tasks < 1 || bag.Spread < 0 || bag.Spread > 10 {
		return 0, job.ArgumentError("--tasks", "a front needs a number of tasks and a --spread from 0 to 10", "write the number of tasks, as in --tasks 1500")
	}
	sizes := []float64{0, 0, 0}
	for i, s := range []struct{ flag, text string }{{"--input", f.input}, {"--output", f.output}, {"--server", f.server}} {
		if s.text == "" {
			continue
		}
		n, err := parse.Size(s.flag, s.text)
		if err != nil {
			return 0, err
		}
		sizes[i] = float64(n)
	}
	if f.input+f.output != "" {
		bag.Bytes = sizes[0] + sizes[1]
	}
	if f.server != "" {
		bag.Server = sizes[2]
	}
	if task.Seconds, err = f.seconds("--task-time", f.taskTime, task.Seconds); err != nil {
		return 0, err
	}
	return f.seconds("--deadline", f.deadline, 0)
}

// seconds reads a flag that is a duration.
func (f *frontFlags) seconds(flag, text string, otherwise float64) (float64, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := parse.Duration(flag, text)
	return float64(d) / float64(time.Second), err
}

// types reads the catalogue.
func (f *frontFlags) types(bag *front.Bag, task catalogue.Task) ([]front.Type, error) {
	if f.catalogue == "" {
		return nil, job.ArgumentError("--catalogue", "a front needs the types of machines", "name a TOML file that lists them; docs/rented.md shows an example")
	}
	data, err := os.ReadFile(f.catalogue)
	if err != nil {
		return nil, &job.Error{Class: job.User, Code: job.CodeNoInput, Where: "--catalogue", What: "the file cannot be read", Err: err}
	}
	c, err := catalogue.Read(f.catalogue, data, task)
	bag.Transfer = c.Transfer
	return c.Types, err
}

// points returns the front, or the one configuration that is asked for.
func (f *frontFlags) points(m *front.Model, types []front.Type) (front.Set, float64, error) {
	if f.only != "" {
		counts, err := catalogue.Configuration("--only", f.only, types)
		if err != nil {
			return nil, 0, err
		}
		return front.Set{m.Evaluate(counts)}, 0, nil
	}
	epsilon := f.epsilon
	if epsilon < 0 {
		epsilon = front.Epsilon(types)
	}
	set, within := m.Search(epsilon)
	return set, within, nil
}

// draw writes the drawing, whole or not at all.
func (f *frontFlags) draw(v front.View) error {
	out, err := renameio.NewPendingFile(f.svg, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write the drawing: %w", err)
	}
	err = ui.FrontSVG(out, v)
	if err == nil {
		err = out.CloseAtomicallyReplace()
	}
	return errors.Join(err, out.Cleanup())
}
