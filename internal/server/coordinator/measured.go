package coordinator

import (
	"maps"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
)

// measured is what a run has measured: by the application that tasks name; that of the job has the empty name.
type measured map[string]*predict.Collector

// of returns the collector of an application.
func (m *measured) of(application string) *predict.Collector {
	if *m == nil {
		*m = measured{}
	}
	c := (*m)[application]
	if c == nil {
		c = &predict.Collector{}
		(*m)[application] = c
	}
	return c
}

// named returns the applications that tasks name, without that of the job.
func (m measured) named() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(name string) bool { return name == "" })
}

// all returns the measurements of all tasks. It is not a copy if they are of the job's application alone.
func (m *measured) all() predict.Measures {
	own, named := m.of("").Measures(), m.named()
	if len(named) == 0 {
		return own
	}
	sum := predict.Measures{}
	sum.Merge(own)
	for _, name := range named {
		sum.Merge(m.of(name).Measures())
	}
	return sum
}

// measure adds what was measured of a task that is done.
func (l *live) measure(r event.AttemptEnded) {
	task := r.Attempt.Task
	stats := append(l.worked[task], r.Stats...)
	kind := l.Spec.Kind.TaskKind(len(l.Tasks.Splits), task)
	application := l.report.ApplicationOf(task)
	if application == l.Spec.Application {
		application = ""
	}
	c := l.measured.of(application)
	if c.Add(kind, stats); kind == job.BagTask && len(l.worked[task]) == 0 {
		c.AddMemory(r.Size, r.Stats)
	}
	delete(l.worked, task)
	c.AddCurve(job.Curve{Kind: kind, Source: r.Source, Marks: r.Curve})
	c.AddEnd(r.Expected)
	l.measureNeeds(task, stats)
}

// byApplication returns a run as one of each application that its tasks named. Those beside the job's own have rows of their own, with ids
// that no job has. Nothing was predicted for them.
func (l *live) byApplication(r history.Run) []history.Measured {
	r.Ends, r.Spells = l.measured.of("").Ends(), l.report.Spells()
	runs := []history.Measured{{Run: r, Measures: l.measured.of("").Measures()}}
	for _, name := range l.measured.named() {
		spec := *l.Spec
		spec.Application = name
		app := predict.Application(&spec)
		m := l.measured.of(name).Measures()
		tasks := int(m.Get(predict.BagTask).Time.Count)
		runs[0].Tasks -= tasks
		runs = append(runs, history.Measured{Measures: m, Run: history.Run{ID: r.ID + job.ID(" "+app), Name: r.Name, Kind: r.Kind, App: app, AppByPath: predict.ApplicationByPath(&spec),
			NodeType: r.NodeType, State: r.State, Started: r.Started, Ended: r.Ended, Tasks: tasks, Nodes: r.Nodes, CPUs: r.CPUs,
			Ends: l.measured.of(name).Ends()}})
	}
	return runs
}
