package dashboard

import (
	"io"
	"sync"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// follower reads a run's journal as it grows.
type follower struct {
	mu sync.Mutex // guards what follows
	*rundir.Follower
	plan  planView
	rent  job.Rent
	parts int // of the journal that were shown alone, at most mostDoubled
}

// planView is the part of a plan that the page shows.
type planView struct {
	At        job.Time         `json:"at_ns"`
	Predicted *plan.Prediction `json:"predicted,omitempty"`
	Source    string           `json:"source"`
	Reasons   []string         `json:"reasons"`
	Outlook   *plan.Outlook    `json:"outlook,omitempty"`
	Start     *plan.Start      `json:"start,omitempty"`
}

func follow(r statedir.Run) (*follower, error) {
	in, err := rundir.Follow(r, func(in *report.Info) { in.Usage, in.Spans = report.NewUsage(), report.NewSpans() })
	if err != nil {
		return nil, err
	}
	f := &follower{Follower: in}
	f.setPlan(in.Decided.Plan)
	return f, nil
}

func (f *follower) setPlan(p plan.Plan) {
	f.rent = p.Alloc.Remote.Rent
	f.plan = planView{At: p.At, Predicted: p.Predicted, Source: p.Source, Reasons: p.Reasons, Outlook: p.Outlook, Start: p.Start}
}

// mostDoubled is how often the time for a part of the journal is doubled.
const mostDoubled = 4

// inARow is the number of records that are read before the time is looked at.
const inARow = 1000

// look reads the new records of the journal. If there are more than it can read in about that time (0: there is no limit), it leaves the
// others to the next call.
func (f *follower) look(patience time.Duration) (more bool, err error) {
	begun, n := time.Now(), 0
	err = f.Look(func(e event.Entry) error {
		if _, resumed := e.Record.(event.JobResumed); resumed { // the job was planned again
			if p, err := rundir.LoadPlan(f.Run); err == nil {
				f.setPlan(p)
			}
		}
		if n++; patience > 0 && n%inARow == 0 && time.Since(begun) >= patience {
			more = true
			return io.EOF
		}
		return nil
	})
	return more, err
}

// jobDocument is the document of a job's page.
type jobDocument struct {
	Page       string         `json:"page"` // "job"
	Job        report.JobView `json:"job"`
	Plan       planView       `json:"plan"`
	Timeline   timelineView   `json:"timeline"`
	Throughput throughputView `json:"throughput"`
	Scatter    scatterView    `json:"scatter"`
	Usage      usageView      `json:"usage"`
	Rented     *rentedView    `json:"rented,omitempty"`  // nil: it rents none
	Reading    bool           `json:"reading,omitempty"` // the journal is not read to its end yet, so timeline, throughput and usage end early

	rent job.Rent // machines that the plan rents
}

// document returns the document of a job, given its view, with its timeline within the window. It has what can be read of the journal in
// about that time.
func (f *follower) document(v report.JobView, w window, patience time.Duration) (jobDocument, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	more, err := f.look(patience << f.parts)
	if err != nil {
		return jobDocument{}, err
	}
	if more { // each part takes twice the time of the one before, as what is read is shown again after each
		f.parts = min(f.parts+1, mostDoubled)
	}
	until := f.Fold.Last()
	if live(v) && !v.At.IsZero() && !more {
		until = max(until, job.TimeOf(v.At))
	}
	order := make([]string, len(v.Nodes))
	for i, n := range v.Nodes {
		order[i] = n.Node
	}
	return jobDocument{
		Page: "job", Job: v, Plan: f.plan, rent: f.rent, Reading: more,
		Timeline:   timeline(f.Info.Spans, w, until, order, f.Fold.TaskName),
		Throughput: throughput(f.Info.Spans, w, until),
		Scatter:    scatter(f.Info.Spans, w, until),
		Usage:      viewUsage(f.Info.Usage.View([]job.ID{v.ID}, v.Nodes)),
	}, nil
}

// live reports whether a coordinator handles the job.
func live(v report.JobView) bool { return !v.State.Final() && v.State != report.StateInterrupted }
