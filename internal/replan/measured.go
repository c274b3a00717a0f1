package replan

import (
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
)

// Measured is what a run has shown of how long its tasks take. The zero value is that of a
// run of which nothing is done.
type Measured struct{ parts predict.Collector }

// Add counts an attempt that is over, of a task of that kind.
func (m *Measured) Add(kind job.TaskKind, r event.AttemptEnded) {
	if r.Outcome == event.Done {
		m.parts.Add(kind, r.Stats)
	}
}

// Measures returns what was gathered. It is not a copy.
func (m *Measured) Measures() predict.Measures { return m.parts.Measures() }

// Profile returns what the run has shown as a profile of the application that the plan was
// made for, nil where it has shown nothing.
func (m *Measured) Profile(p plan.Plan, now job.Time) *predict.Profile {
	if m == nil {
		return nil
	}
	ms := m.parts.Measures()
	count := func(part predict.Part) int { return int(ms.Get(part).Time.Count) }
	size := predict.Size{Kind: p.Kind, Tasks: count(predict.BagTask), Reduces: count(predict.ReduceTask)}
	if p.Kind == job.MapReduce {
		size.Tasks = count(predict.MapTask)
	}
	if size.Tasks == 0 {
		return nil
	}
	if p.Tasks > 0 {
		size.InputBytes = p.InputBytes * int64(size.Tasks) / int64(p.Tasks)
	}
	prof := &predict.Profile{App: p.App, NodeType: p.NodeType}
	prof.AddRun(size, now, ms)
	return prof
}
