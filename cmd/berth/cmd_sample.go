package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"berth/internal/catalogue"
	"berth/internal/driver/registry"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/job/parse"
	"berth/internal/plan/front"
	"berth/internal/predict/sample"
	"berth/internal/report"
	"berth/internal/run"
	"berth/internal/ui/choices"
)

// trial is a type of machines that tasks are tried on.
type trial struct {
	name string
	host job.Host
	run  home.Run
	of   []int // entries of the bag that it tries
}

// sampling is berth sample.
type sampling struct {
	frontFlags
	hosts, rest string // hosts: of the types
}

func newSample() *cobra.Command {
	var s sampling
	c := newBag(s.then)
	c.Use = "sample --types TYPE=HOST,... --catalogue FILE [FLAG...] [--] COMMAND [ARG...] [::: VALUE...]"
	c.Short = "Try some tasks of a bag that never ran on types of machines, and show what all of it would cost"
	c.Long = `Try some thirty tasks of a bag on one host of each type of machines, which ssh reaches, and show the
front of what is left (berth front): times of tasks with confidence intervals, what a machine and
the data server move. With --duplicates-ok seven tasks are tried on every type, and the times of the
others are carried over from type to type; else each type tries thirty of its own. What is tried is
done: --rest writes the other entries to a file.`
	c.Example = "  berth sample --types m1.m=host1,c1.m=host2 --catalogue types.toml --duplicates-ok --each-line files.txt --rest left.txt -- ./convert {}\n" +
		"  berth bag --each-line left.txt -- ./convert {}"
	c.Flags().StringVar(&s.hosts, "types", "", "hosts to try tasks on, by type of the catalogue: m1.m=host1,c1.m=8/host2; : is this machine")
	c.Flags().StringVar(&s.rest, "rest", "", "write the entries that were not tried to this file")
	s.register(c.Flags())
	return c
}

// then tries tasks of a bag and draws the front of the others.
func (s *sampling) then(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, _ bool) error {
	trials, err := s.deal(entries, spec.Bag.DuplicatesOK)
	if err != nil {
		return err
	}
	if err := s.check(trials, len(entries), spec.Bag.Need); err != nil {
		return err
	}
	h, err := home.Open()
	if err != nil {
		return err
	}
	for i := range trials {
		if trials[i].run, err = trials[i].begin(cmd.Context(), h, spec, entries); err != nil {
			return err
		}
	}
	for i := range trials {
		v, err := showToEnd(cmd, h, trials[i].run, attachment{owner: true})
		if err != nil {
			return err
		}
		if err := jobExit(v); err != nil {
			return err
		}
	}
	m, err := measure(trials)
	if err != nil {
		return err
	}
	left := m.left(entries)
	if err := s.writeRest(left); err != nil {
		return err
	}
	return s.tell(cmd, m, trials, len(left), spec.Bag.Need)
}

// deal reads the types and deals the tasks that they try.
func (s *sampling) deal(entries []job.Entry, twice bool) ([]trial, error) {
	var trials []trial
	for part := range strings.SplitSeq(s.hosts, ",") {
		name, host, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, job.ArgumentError("--types", fmt.Sprintf("%q is no type with a host", part), "write --types m1.m=host1,c1.m=host2")
		}
		hosts, err := parse.Hosts("--types", host)
		if err != nil {
			return nil, err
		}
		if len(hosts) != 1 || slices.ContainsFunc(trials, func(t trial) bool { return t.name == name || t.host.Name == hosts[0].Name }) {
			return nil, job.ArgumentError("--types", "a type has one host, which no other has", "write --types m1.m=host1,c1.m=host2")
		}
		trials = append(trials, trial{name: name, host: hosts[0]})
	}
	if s.rest != "" && slices.ContainsFunc(entries, func(e job.Entry) bool { return len(e) != 1 || strings.Contains(e[0], "\n") }) {
		return nil, job.ArgumentError("--rest", "not every entry is a line", "leave --rest out")
	}
	for i, of := range sample.Deal(rand.New(rand.NewPCG(uint64(len(entries)), uint64(len(trials)))), len(entries), len(trials), twice) {
		trials[i].of = of
	}
	return trials, nil
}

// check finds what is wrong with flags and catalogue before anything is tried.
func (s *sampling) check(trials []trial, tasks int, need job.Resources) error {
	bag, task := front.Bag{Tasks: tasks, Spread: s.spread}, catalogue.Task{Need: need, Times: make(map[string]float64)}
	for _, t := range trials {
		task.Times[t.name] = 1
	}
	if _, err := s.fill(&bag, &task); err != nil {
		return err
	}
	types, err := s.frontFlags.types(&bag, task)
	if err != nil {
		return err
	}
	for _, t := range trials {
		if !slices.ContainsFunc(types, func(one front.Type) bool { return one.Name == t.name }) {
			return job.ArgumentError("--types", fmt.Sprintf("there is no type %q in the catalogue", t.name), "name one that has a price there")
		}
	}
	return nil
}

// begin submits the tasks that a type tries as a job of its own.
func (t *trial) begin(ctx context.Context, h home.Home, spec *job.Spec, entries []job.Entry) (home.Run, error) {
	one, bag := *spec, *spec.Bag
	one.Bag, one.Name = &bag, spec.Name+" on "+t.name
	bag.DuplicatesOK = false
	one.Request.On, one.Request.Remote.Hosts = registry.Hosts, []job.Host{t.host}
	var of []job.Entry
	for _, i := range t.of {
		of = append(of, entries[i])
	}
	return hand(ctx, h, &one, of)
}

// measured is what trials have shown.
type measured struct {
	types    []sample.Estimate
	links    sample.Bandwidth
	bytes    float64 // that a task moves
	finished map[int]bool
}

// measure reads the runs of the trials.
func measure(trials []trial) (measured, error) {
	m := measured{finished: make(map[int]bool)}
	var runs []sample.Run
	var moves []sample.Move
	for k, t := range trials {
		_, err := run.Fold(t.run, func(row report.AttemptRow) {
			if row.Outcome != "done" {
				return
			}
			m.finished[t.of[row.Task]] = true
			for _, p := range row.Phases {
				if p.Phase == job.PhaseCompute.String() {
					runs = append(runs, sample.Run{Task: t.of[row.Task], Type: k, Seconds: p.End.Sub(p.Start).Seconds()})
				} else if p.Net != nil && *p.Net > 0 {
					moves = append(moves, sample.Move{Type: k, Start: float64(p.Start.UnixNano()) / 1e9, End: float64(p.End.UnixNano()) / 1e9, Bytes: float64(*p.Net)})
				}
			}
		})
		if err != nil {
			return m, err
		}
	}
	for _, move := range moves {
		m.bytes += move.Bytes / float64(len(runs))
	}
	m.types, m.links = sample.Estimates(len(trials), runs), sample.Measure(len(trials), moves)
	return m, nil
}

// left returns the entries that have yet to be done.
func (m *measured) left(entries []job.Entry) (left []job.Entry) {
	for i, e := range entries {
		if !m.finished[i] {
			left = append(left, e)
		}
	}
	return left
}

func (s *sampling) writeRest(left []job.Entry) error {
	if s.rest == "" {
		return nil
	}
	var b strings.Builder
	for _, e := range left {
		b.WriteString(e[0] + "\n")
	}
	if err := renameio.WriteFile(s.rest, []byte(b.String()), 0o666, renameio.WithPermissions(0o644)); err != nil {
		return home.WriteError(s.rest, err)
	}
	return nil
}

// tell draws the front of what is left.
func (s *sampling) tell(cmd *cobra.Command, m measured, trials []trial, left int, need job.Resources) error {
	told := choices.Sampled{Left: left, Bytes: m.bytes, Server: m.links.Server, Peak: m.links.Peak, View: front.View{Front: []front.PointView{}, Tipping: -1}}
	task := catalogue.Task{Need: need, Times: make(map[string]float64), Rates: make(map[string]float64)}
	bag := front.Bag{Tasks: left, Bytes: m.bytes, Spread: s.spread, Server: m.links.Server}
	for k, t := range trials {
		e := m.types[k]
		told.Types = append(told.Types, choices.SampledType{Name: t.name, Host: t.host.Name, Job: t.run.ID, Tried: e.Tried, Carried: e.Carried,
			Mean: e.Mean, Low: e.Low, Up: e.Up, Spread: e.Spread, Rate: m.links.Rates[k]})
		if e.Mean > 0 {
			task.Times[t.name], task.Rates[t.name] = e.Mean, m.links.Rates[k]
			if !cmd.Flags().Changed("spread") {
				bag.Spread = min(e.Spread, 10)
			}
		}
	}
	if left > 0 {
		v, err := s.view(bag, task, nil)
		if err != nil {
			return err
		}
		told.View = v
	}
	return show(cmd, told, func(w io.Writer) error { return choices.SampledText(w, told) })
}
