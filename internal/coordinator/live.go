package coordinator

import (
	"encoding/json"
	"fmt"
	"sync"

	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
	"berth/internal/report"
	"berth/internal/run"
	"berth/internal/wire"
)

// live is a job that the coordinator has in hand: its spec and task table, and
// what the records have made of it.
type live struct {
	run      home.Run
	spec     *job.Spec
	specJSON []byte
	tasks    home.Tasks
	joblog   *joblog // the loop's own; nil: none is wanted

	mu       sync.Mutex // guards what follows
	report   *report.Job
	measured predict.Collector
	over     chan struct{}   // closed when whoever watches the job need not wait any longer
	archived chan struct{}   // closed when the job is over and all that stays of it is written
	last     *report.JobView // once that is so: the job as it stands in its summary
}

// load reads a run's folder.
func (s *Server) load(id job.ID) (*live, error) {
	folder := s.home.Run(id)
	spec, tasks, err := folder.Load()
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode the spec of %s: %w", id, err)
	}
	l := &live{run: folder, spec: spec, specJSON: b, tasks: tasks, over: make(chan struct{}), archived: make(chan struct{})}
	info, err := run.Info(folder, spec, tasks)
	if err != nil {
		return nil, err
	}
	info.Nodes = s.nodes
	l.report = report.New(info)
	return l, nil
}

// observe takes a record of the job into the view.
func (l *live) observe(e event.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Apply(e)
	switch r := e.Record.(type) {
	case event.AttemptEnded:
		if r.Outcome == event.Done {
			l.measured.Add(l.kind(r.Attempt.Task), r.Stats)
		}
	case event.JobResumed:
		l.over, l.archived, l.last = make(chan struct{}), make(chan struct{}), nil
	}
}

func (l *live) kind(task int) job.TaskKind {
	switch {
	case l.spec.Kind == job.Bag:
		return job.BagTask
	case task < len(l.tasks.Splits):
		return job.MapTask
	default:
		return job.ReduceTask
	}
}

// countersWith returns how many counters of its programs the job has with those of more attempts.
func (l *live) countersWith(more ...map[string]int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.CountersWith(more...)
}

// progress takes what a node's worker says of a running attempt, if it is that node's.
func (l *live) progress(node job.NodeID, p wire.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.report.RunsOn(p.Attempt, node) {
		return
	}
	l.report.ApplyProgress(p.Attempt, p.Phase, p.BytesIn, p.BytesOut, p.Fraction)
	l.report.ApplyStatus(p.Attempt, p.Status)
}

// view returns the job as it is now. Of one whose summary is written that is what it says: the
// nodes that it ran on may have left memory since.
func (l *live) view(now job.Time) report.JobView {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		return *l.last
	}
	return l.report.View(now)
}

// setSpec replaces the spec, and returns what puts the one before back. It runs in the loop.
func (l *live) setSpec(spec *job.Spec, specJSON []byte) (undo func()) {
	oldSpec, oldJSON := l.spec, l.specJSON
	set := func(spec *job.Spec, specJSON []byte) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.spec, l.specJSON = spec, specJSON
	}
	set(spec, specJSON)
	return func() { set(oldSpec, oldJSON) }
}

// replan replaces what was decided.
func (l *live) replan(p plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.SetPlan(p.Reasons[0], run.Predicted(p), run.Expected(p), p.Notes)
}

// ends returns what is closed when whoever watches the job need not wait any longer, and
// what is closed when all that stays of the job is written.
func (l *live) ends() (over, archived chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over, l.archived
}

// conclude says that the job's summary is written.
func (l *live) conclude(v report.JobView) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = &v
}

// note adds to what the user should know of the job.
func (l *live) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.AddNote(text)
}
