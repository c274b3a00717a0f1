package dashboard

import (
	"errors"
	"io/fs"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// follower reads a run's journal as it grows.
type follower struct {
	run statedir.Run

	mu    sync.Mutex // guards what follows
	at    int64      // how far the journal was read
	fold  *report.Job
	usage *report.Usage
	spans *report.Spans
	info  report.Info
	plan  planView
	rent  job.Rent
}

// planView is what the page shows of a plan.
type planView struct {
	At        job.Time         `json:"at_ns"`
	App       string           `json:"app"`
	Predicted *plan.Prediction `json:"predicted,omitempty"`
	Source    string           `json:"source"`
	Reasons   []string         `json:"reasons"`
	Outlook   *plan.Outlook    `json:"outlook,omitempty"`
	Requests  int              `json:"requests"`
}

func follow(r statedir.Run) (*follower, error) {
	d, err := rundir.Open(r)
	if err != nil {
		return nil, err
	}
	f := &follower{run: r, usage: report.NewUsage(), spans: report.NewSpans(), info: rundir.Info(r, d)}
	info := f.info
	info.Usage, info.Spans = f.usage, f.spans
	f.fold = report.New(info)
	f.setPlan(d.Plan)
	return f, nil
}

func (f *follower) setPlan(p plan.Plan) {
	f.rent = p.Alloc.Remote.Rent
	f.plan = planView{At: p.At, App: p.App, Predicted: p.Predicted, Source: p.Source, Reasons: p.Reasons, Outlook: p.Outlook, Requests: len(p.Requests())}
}

// look takes what is new in the journal.
func (f *follower) look() error {
	at, err := journal.Since(f.run.Journal(), f.at, func(e event.Entry) error {
		f.fold.Apply(e)
		if _, resumed := e.Record.(event.JobResumed); resumed { // it was planned anew
			if p, err := rundir.LoadPlan(f.run); err == nil {
				f.setPlan(p)
			}
		}
		return nil
	})
	f.at = at
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the coordinator has not begun it
	}
	return err
}

// jobDocument is the document of a job's page.
type jobDocument struct {
	Page       string         `json:"page"` // "job"
	Job        report.JobView `json:"job"`
	Plan       planView       `json:"plan"`
	Timeline   timelineView   `json:"timeline"`
	Throughput throughputView `json:"throughput"`
	Usage      usageView      `json:"usage"`
	Rented     *rentedView    `json:"rented,omitempty"` // nil: it rents none

	rent job.Rent // what the plan rents
}

// document returns the job as it is, given its view, with its timeline within the window.
func (f *follower) document(v report.JobView, w window) (jobDocument, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.look(); err != nil {
		return jobDocument{}, err
	}
	until := f.fold.Last()
	if live(v) && !v.At.IsZero() {
		until = max(until, job.Time(v.At.UnixNano()))
	}
	order := make([]string, len(v.Nodes))
	for i, n := range v.Nodes {
		order[i] = n.Node
	}
	return jobDocument{
		Page: "job", Job: v, Plan: f.plan, rent: f.rent,
		Timeline:   timeline(f.spans, w, until, order, f.info.TaskName),
		Throughput: throughput(f.spans, w, until),
		Usage:      viewUsage(f.usage.View([]job.ID{v.ID}, v.Nodes)),
	}, nil
}

// live reports whether somebody looks after the job.
func live(v report.JobView) bool { return !final(v) && v.State != report.StateInterrupted }

func final(v report.JobView) bool { return event.State(v.State).Final() }
