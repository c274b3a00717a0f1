package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
	"berth/internal/show/ui"
)

// frontFlags are the flags of a front, except the number of tasks.
type frontFlags struct {
	Catalogue string  `flag:"catalogue" usage:"TOML file with the types of machines and their prices (see docs/rented.md)"` // commands that can rent have these three already
	Budget    float64 `flag:"budget" usage:"choose the fastest point that costs at most this"`
	Deadline  string  `flag:"deadline" usage:"choose the cheapest point whose makespan is at most this, as in 2h"`
	Input     string  `flag:"input" usage:"bytes that a task reads from the data server, as in 23.3M"`
	Output    string  `flag:"output" usage:"bytes that a task writes to the data server"`
	Server    string  `flag:"server" usage:"throughput of the data server for all machines together in bytes per second, as in 100M (default: no limit)"`
	TaskTime  string  `flag:"task-time" usage:"computing time of a task on a core of speed 1, as in 30s; the catalogue may give it for each type. Values for several phases are separated by commas, as those of --input and --output"`
	Spread    float64 `flag:"spread" usage:"standard deviation of task times, divided by their mean"`
	Epsilon   float64 `flag:"epsilon" usage:"precision of the search: a choice outside the front may be better by this share at most; a larger one is used and printed if the search would take too long (default: 0, which is exact, for up to 10^11 choices, or 10^5 for a job of several phases; otherwise 0.01)"`
	Tail      bool    `flag:"tail" usage:"include the time at the end in which machines run out of tasks"`
	Boot      bool    `flag:"boot" usage:"include the time until machines are ready"`
	Only      string  `flag:"only" usage:"evaluate this configuration only, as in m1.m=30,c1.m=2"`
	SVG       string  `flag:"svg" usage:"write a drawing of the front to this file"`
}

var frontDefaults = frontFlags{Spread: 0.3, Epsilon: -1, Tail: true, Boot: true}

// take takes over what a job asks for that could rent machines, so that it asks for none.
func (f *frontFlags) take(spec *job.Spec) {
	asked := spec.Request.Remote.Rent
	spec.Request.Remote.Rent = job.Rent{}
	f.Catalogue, f.Budget = cmp.Or(f.Catalogue, asked.Catalogue), cmp.Or(f.Budget, asked.Budget)
	now := job.TimeOf(time.Now())
	if spec.Request.SetDue(now); spec.Request.Due != 0 {
		f.Deadline = fmt.Sprintf("%ds", int(spec.Request.Due.Sub(now).Seconds()))
	}
}

func newFront() *cobra.Command {
	f := struct {
		Tasks int `flag:"tasks" usage:"number of tasks"`
		frontFlags
	}{frontFlags: frontDefaults}
	c := command("front", NoArguments, func(cmd *cobra.Command, _ []string) error {
		return f.show(cmd, frontPhase{bag: front.Bag{Tasks: f.Tasks, Spread: f.Spread}, task: catalogue.Task{Need: job.Resources{CPUs: 1}}})
	})
	addFlags(c.Flags(), &f)
	return c
}

// show draws the front of a job.
func (f *frontFlags) show(cmd *cobra.Command, phases ...frontPhase) error {
	v, err := f.view(phases...)
	if err != nil {
		return err
	}
	return display(cmd, v, ui.Front)
}

// view searches that front, and writes the drawing that is asked for.
func (f *frontFlags) view(phases ...frontPhase) (v front.View, err error) {
	m, types, err := f.model(phases)
	if err != nil {
		return v, err
	}
	deadline, err := f.seconds("--deadline", f.Deadline, 0)
	if err != nil {
		return v, err
	}
	set, epsilon, err := f.points(m, types)
	if err != nil {
		return v, err
	}
	v = m.View(set, epsilon)
	if len(v.Front) == 0 || (f.Budget > 0 || deadline > 0) && !v.Choose(set, f.Budget, deadline) {
		return v, catalogue.NoChoice(v, f.Budget)
	}
	if f.SVG != "" {
		err = f.draw(v)
	}
	return v, err
}

// model returns the model of phases, and the types of machines as the first has them.
func (f *frontFlags) model(phases []frontPhase) (m *front.Model, types []front.Type, err error) {
	for i, p := range phases {
		if err := f.fill(&p, i, len(phases)); err != nil {
			return nil, nil, err
		}
		own, err := f.types(&p.bag, p.task)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range p.cluster {
			if t.Task = p.task.Seconds; t.Task > 0 {
				own = append(own, t)
			}
		}
		next := front.NewModel(p.bag, own)
		if m == nil {
			m, types = next, own
			continue
		}
		m.Then(next)
	}
	return m, types, nil
}

// fill reads the flags on tasks into what is told of a phase, which is one of so many, already.
func (f *frontFlags) fill(p *frontPhase, at, of int) (err error) {
	p.bag.Tail, p.bag.Boot = f.Tail, f.Boot
	if p.bag.Tasks < 1 || p.bag.Spread < 0 || p.bag.Spread > 10 {
		return job.ArgumentError("--tasks", "a front needs a number of tasks and a --spread from 0 to 10", "write the number of tasks, as in --tasks 1500")
	}
	in, err1 := bytesOfPhase("--input", f.Input, at, of)
	out, err2 := bytesOfPhase("--output", f.Output, at, of)
	server, err3 := bytesOfPhase("--server", f.Server, 0, 1)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if f.Input+f.Output != "" {
		p.bag.Bytes = in + out
	}
	if f.Server != "" {
		p.bag.Server = server
	}
	text, err := ofPhase("--task-time", f.TaskTime, at, of)
	if err != nil {
		return err
	}
	if p.task.Seconds, err = f.seconds("--task-time", text, p.task.Seconds); err == nil && of > 1 && p.task.Seconds <= 0 {
		return job.ArgumentError("--task-time", "the time of a task of the phase "+p.name+" is unknown: no run of the application has measured it",
			"run the job once, or write the time of a task of each phase, as in --task-time 30s,10s")
	}
	return err
}

// bytesOfPhase returns the size that a flag has for one of the phases.
func bytesOfPhase(flag, text string, at, of int) (float64, error) {
	text, err := ofPhase(flag, text, at, of)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := parse.Size(flag, text)
	return float64(n), err
}

// ofPhase returns the value of a flag for a phase: values for several are separated by commas.
func ofPhase(flag, text string, at, of int) (string, error) {
	values := strings.Split(text, ",")
	if of == 1 || text == "" {
		return text, nil
	}
	if len(values) != of {
		return "", job.ArgumentError(flag, fmt.Sprintf("%q is not a value for each of the %d phases", text, of), "separate them by commas, in the order of the phases")
	}
	return values[at], nil
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
	if f.Catalogue == "" {
		return nil, job.ArgumentError("--catalogue", "a front needs the types of machines", "name a TOML file that lists them; docs/rented.md shows an example")
	}
	data, err := os.ReadFile(f.Catalogue)
	if err != nil {
		return nil, job.InputError("--catalogue", "the file cannot be read", "").Because(err)
	}
	c, err := catalogue.Read(f.Catalogue, data, task)
	bag.Transfer = c.Transfer
	return c.Types, err
}

// points returns the front, or the one configuration that is asked for.
func (f *frontFlags) points(m *front.Model, types []front.Type) (front.Set, float64, error) {
	if f.Only != "" {
		counts, err := catalogue.Configuration("--only", f.Only, types)
		if err != nil {
			return nil, 0, err
		}
		return front.Set{m.Evaluate(counts)}, 0, nil
	}
	epsilon := f.Epsilon
	if epsilon < 0 {
		epsilon = m.Epsilon()
	}
	set, within := m.Search(epsilon)
	return set, within, nil
}

// draw writes the drawing, whole or not at all.
func (f *frontFlags) draw(v front.View) error {
	out, err := renameio.NewPendingFile(f.SVG, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write the drawing: %w", err)
	}
	err = ui.FrontSVG(out, v)
	if err == nil {
		err = out.CloseAtomicallyReplace()
	}
	return errors.Join(err, out.Cleanup())
}
