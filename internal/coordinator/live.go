package coordinator

import (
	"encoding/json"
	"fmt"
	"sync"

	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/replan"
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

	mu       sync.Mutex // guards what follows
	report   *report.Job
	measured replan.Measured
	joblog   *report.Joblog // nil: none is wanted, or none yet
	over     chan struct{}  // closed when the job is over and its history is written
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
	l := &live{run: folder, spec: spec, specJSON: b, tasks: tasks, over: make(chan struct{})}
	info, err := run.Info(folder, spec, tasks)
	if err != nil {
		return nil, err
	}
	info.Nodes, info.OnAttempt = s.nodes, func(row report.AttemptRow) { s.logAttempt(l, row) }
	l.report = report.New(info)
	return l, nil
}

// logAttempt writes an attempt that is over to the job log. The job's lock is held.
func (s *Server) logAttempt(l *live, row report.AttemptRow) {
	if l.joblog == nil {
		return
	}
	if err := l.joblog.Attempt(row, l.spec.Bag.CommandLine(l.tasks.Entries[row.Task], row.Task)); err != nil {
		s.log.Error("the job log cannot be written", "job", l.spec.ID, "err", err)
	}
}

// beginJoblog opens the job log, so that attempts that end from now on are written.
func (l *live) beginJoblog(open func(path string) (*report.Joblog, error)) error {
	if l.spec.Bag == nil || l.spec.Bag.Joblog == "" {
		return nil
	}
	log, err := open(l.spec.Bag.Joblog)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.joblog = log
	return nil
}

// observe takes a record of the job into the view.
func (l *live) observe(e event.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Apply(e)
	switch r := e.Record.(type) {
	case event.AttemptEnded:
		l.measured.Add(l.kind(r.Attempt.Task), r)
	case event.JobResumed:
		l.over = make(chan struct{})
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

func (l *live) progress(p wire.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.ApplyProgress(p.Attempt, p.Phase, p.BytesIn, p.BytesOut, p.Fraction)
	l.report.ApplyStatus(p.Attempt, p.Status)
}

// view returns the job as it is now.
func (l *live) view(now job.Time) report.JobView {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.View(now)
}

// replan replaces what was decided.
func (l *live) replan(p plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.SetPlan(p.Reasons[0], run.Predicted(p), run.Expected(p), p.Notes)
}

// finished returns what is closed when the job is over.
func (l *live) finished() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// finish lets those who wait for the end of the job go.
func (l *live) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.over)
}
