package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/command/trials"
	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/plan/front"
	"berth/internal/driver/registry"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// sampling is berth sample.
type sampling struct {
	frontFlags
	Hosts string `flag:"types" usage:"one host for each type of the catalogue, as in m1.m=host1,c1.m=8/host2; : is this machine"`
	Rest  string `flag:"rest" usage:"write the entries that did not run to this file"`
}

func newSample() *cobra.Command {
	s := sampling{frontFlags: frontDefaults}
	c := newBag("sample", s.then)
	addFlags(c.Flags(), &s)
	return c
}

// then tries tasks of a bag and draws the front of the others.
func (s *sampling) then(cmd *cobra.Command, j *cli.Job, _ bool) error {
	spec, entries := j.Spec, j.Entries
	s.take(spec)
	all, err := trials.Deal("--types", s.Hosts, len(entries), spec.Bag.DuplicatesOK)
	if err != nil {
		return err
	}
	if s.Rest != "" && slices.ContainsFunc(entries, func(e job.Entry) bool { return len(e) != 1 || strings.Contains(e[0], "\n") }) {
		return job.ArgumentError("--rest", "not every entry is a single line, so they cannot be written to a file", "remove --rest")
	}
	if err := s.check(all, len(entries), spec.Bag.Need); err != nil {
		return err
	}
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	for i := range all {
		one, of := all[i].Job(registry.Hosts, spec, entries)
		if all[i].Run, err = hand(cmd.Context(), h, one, of, handed{}); err != nil {
			return err
		}
	}
	for i := range all {
		v, err := showToEnd(cmd, all[i].Run, attachment{owner: true})
		if err != nil {
			return err
		}
		if err := jobExit(v); err != nil {
			return err
		}
	}
	m, err := trials.Measure(all)
	if err != nil {
		return err
	}
	left := m.Left(entries)
	if err := s.writeRest(left); err != nil {
		return err
	}
	return s.tell(cmd, m, all, len(left), spec.Bag.Need)
}

// check finds what is wrong with flags and catalogue before anything is tried.
func (s *sampling) check(all []trials.Trial, tasks int, need job.Resources) error {
	bag, task := front.Bag{Tasks: tasks, Spread: s.Spread}, catalogue.Task{Need: need, Times: make(map[string]float64)}
	for _, t := range all {
		task.Times[t.Name] = 1
	}
	if _, err := s.seconds("--deadline", s.Deadline, 0); err != nil {
		return err
	}
	_, types, err := s.model([]frontPhase{{bag: bag, task: task}})
	if err != nil {
		return err
	}
	for _, t := range all {
		if !slices.ContainsFunc(types, func(one front.Type) bool { return one.Name == t.Name }) {
			return job.ArgumentError("--types", fmt.Sprintf("there is no type %q in the catalogue", t.Name), "name one that has a price there")
		}
	}
	return nil
}

func (s *sampling) writeRest(left []job.Entry) error {
	if s.Rest == "" {
		return nil
	}
	var b strings.Builder
	for _, e := range left {
		b.WriteString(e[0] + "\n")
	}
	return statedir.WriteError(s.Rest, renameio.WriteFile(s.Rest, []byte(b.String()), 0o666, renameio.WithPermissions(0o644)))
}

// tell draws the front of what is left.
func (s *sampling) tell(cmd *cobra.Command, m trials.Measured, all []trials.Trial, left int, need job.Resources) error {
	told := ui.Sampled{Left: left, Bytes: m.Bytes, Server: m.Links.Server, Peak: m.Links.Peak, View: front.View{Front: []front.Point{}, Tipping: -1}}
	task := catalogue.Task{Need: need, Times: make(map[string]float64), Rates: make(map[string]float64)}
	bag := front.Bag{Tasks: left, Bytes: m.Bytes, Spread: s.Spread, Server: m.Links.Server}
	for k, t := range all {
		e := m.Types[k]
		told.Types = append(told.Types, ui.SampledType{Name: t.Name, Host: t.Host.Name, Job: t.Run.ID, Tried: e.Tried, Carried: e.Carried,
			Mean: e.Mean, Low: e.Low, Up: e.Up, Spread: e.Spread, Rate: m.Links.Rates[k]})
		if e.Mean > 0 {
			task.Times[t.Name], task.Rates[t.Name] = e.Mean, m.Links.Rates[k]
			if !cmd.Flags().Changed("spread") {
				bag.Spread = min(e.Spread, 10)
			}
		}
	}
	if left > 0 {
		v, err := s.view(frontPhase{bag: bag, task: task})
		if err != nil {
			return err
		}
		told.View = v
	}
	return display(cmd, told, ui.SampledText)
}
