package trials

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/predict/sample"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// Trial is the trial of tasks on a type of machines.
type Trial struct {
	Name string       // of the type
	Host job.Host     // a machine of the type
	Run  statedir.Run // of the job that runs the tasks
	of   []int        // indices of the entries that the job runs
}

// Deal parses types and their hosts, "m1.m=host1,c1.m=8/host2", and deals them the tasks of a bag with that many.
// With twice, tasks may run more than once.
func Deal(flag, text string, tasks int, twice bool) (all []Trial, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, host, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, job.ArgumentError(flag, fmt.Sprintf("%q is not a type with a host", part), "write "+flag+" m1.m=host1,c1.m=host2")
		}
		hosts, err := parse.Hosts(flag, host)
		if err != nil {
			return nil, err
		}
		if len(hosts) != 1 || slices.ContainsFunc(all, func(t Trial) bool { return t.Name == name || t.Host.Name == hosts[0].Name }) {
			return nil, job.ArgumentError(flag, "each type needs one host of its own", "write "+flag+" m1.m=host1,c1.m=host2")
		}
		all = append(all, Trial{Name: name, Host: hosts[0]})
	}
	for i, of := range sample.Deal(rand.New(rand.NewPCG(uint64(tasks), uint64(len(all)))), tasks, len(all), twice) {
		all[i].of = of
	}
	return all, nil
}

// Job returns the job that runs the type's tasks on its host, on the given backend.
func (t *Trial) Job(backend string, spec *job.Spec, entries []job.Entry) (*job.Spec, []job.Entry) {
	one, bag := *spec, *spec.Bag
	one.Bag, one.Name = &bag, spec.Name+" on "+t.Name
	bag.DuplicatesOK = false
	one.Request.On, one.Request.Remote.Hosts = backend, []job.Host{t.Host}
	var of []job.Entry
	for _, i := range t.of {
		of = append(of, entries[i])
	}
	return &one, of
}

// Measured is the measurements of the trials.
type Measured struct {
	Types []sample.Estimate
	Links sample.Bandwidth
	Bytes float64 // moved by a task
	done  map[int]bool
}

// Measure reads the runs of the trials.
func Measure(all []Trial) (Measured, error) {
	m := Measured{done: make(map[int]bool)}
	var runs []sample.Run
	var moves []sample.Move
	for k, t := range all {
		for row, err := range rundir.Rows(t.Run) {
			if err != nil {
				return m, err
			}
			if row.Outcome != "done" {
				continue
			}
			m.done[t.of[row.Task]] = true
			for _, p := range row.Phases {
				if p.Phase == job.PhaseCompute.String() {
					runs = append(runs, sample.Run{Task: t.of[row.Task], Type: k, Seconds: p.End.Sub(p.Start).Seconds()})
				} else if p.Net != nil && *p.Net > 0 {
					moves = append(moves, sample.Move{Type: k, Start: float64(p.Start.UnixNano()) / 1e9, End: float64(p.End.UnixNano()) / 1e9, Bytes: float64(*p.Net)})
				}
			}
		}
	}
	for _, move := range moves {
		m.Bytes += move.Bytes / float64(len(runs))
	}
	m.Types, m.Links = sample.Estimates(len(all), runs), sample.Measure(len(all), moves)
	return m, nil
}

// Left returns the entries that are not done.
func (m *Measured) Left(entries []job.Entry) (left []job.Entry) {
	for i, e := range entries {
		if !m.done[i] {
			left = append(left, e)
		}
	}
	return left
}
