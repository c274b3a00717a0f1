package dashboard

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// Source finds jobs in the same way as commands do.
type Source struct {
	Home    statedir.Home
	Version string // of the program
	// List returns the jobs to list and the number of further jobs. Jobs that are over come last, the latest of them
	// first. View returns one job.
	List func(context.Context) (views []report.JobView, more int, err error)
	View func(context.Context, statedir.Run) (report.JobView, error)
	// Printed returns a part of what the task of a running attempt has printed, from an offset on.
	Printed func(ctx context.Context, of job.Attempt, stderr bool, offset int64) ([]byte, error)
	// Machines asks the provider for the rented machines that exist.
	Machines func(context.Context) (ui.Machines, error)
}

// The intervals at which documents are created again: those of running jobs, and those of jobs that are over.
const (
	everyLive = time.Second
	everyOver = 5 * time.Second
	// everyPart is that of a job whose journal is not read to its end yet.
	everyPart = 0
)

// readTime is how long a page waits for the journal of a large job before it shows what is read of it.
const readTime = 400 * time.Millisecond

// maxFollowed is the number of runs whose journals are kept in memory, so that showing another part of a timeline does
// not read the journal again.
const maxFollowed = 4

// documents creates the documents of pages.
type documents struct {
	Source
	mu    sync.Mutex  // guards runs
	runs  []*follower // the most recently used last
	bills bills

	readTime time.Duration // 0: there is no limit
}

// listDocument is the document of the page of all jobs.
type listDocument struct {
	Page    string   `json:"page"` // "jobs"
	Version string   `json:"version"`
	Jobs    []listed `json:"jobs"`
	More    int      `json:"more"` // how many jobs are not listed
}

// listed is a job of the list.
type listed struct {
	report.Status
	Ended time.Time `json:"ended,omitzero"`
}

func newList(views []report.JobView, more int) listDocument {
	doc := listDocument{Page: "jobs", Jobs: make([]listed, len(views)), More: more}
	views = report.NewestLast(views)
	for i, s := range report.NewStatusList(views, more).Jobs { // in the same order
		doc.Jobs[i] = listed{s, views[i].Ended}
	}
	return doc
}

// historyDocument is the document of the page of predictions.
type historyDocument struct {
	Page     string           `json:"page"` // "history"
	Accuracy history.Accuracy `json:"accuracy"`
	Slowness predict.Slowness `json:"slowness"` // with mostSlowHosts at most
	Runs     []past           `json:"runs"`     // done, with a prediction, newest last
}

// mostSlowHosts is how many nodes are listed, the slowest first.
const mostSlowHosts = 20

// past is a job that is done, with its prediction.
type past struct {
	ID      job.ID    `json:"id"`
	Name    string    `json:"name"`
	Ended   time.Time `json:"ended"`
	LowS    float64   `json:"low_s"`
	UpS     float64   `json:"up_s"`
	ActualS float64   `json:"actual_s"`
}

// make returns the document that a page requests, and the time after which to create it again.
func (d *documents) make(ctx context.Context, q url.Values) (any, time.Duration, error) {
	switch q.Get("page") {
	case "job":
		return d.job(ctx, q)
	case "history":
		h, err := d.history(ctx)
		return h, everyOver, err
	default:
		views, more, err := d.List(ctx)
		doc := newList(views, more)
		doc.Version = d.Version
		return doc, everyLive, err
	}
}

func (d *documents) job(ctx context.Context, q url.Values) (any, time.Duration, error) {
	id, err := job.ParseID("job", q.Get("id"))
	if err != nil {
		return nil, everyOver, err
	}
	v, err := d.View(ctx, d.Home.Run(id))
	if err != nil {
		return nil, everyOver, err
	}
	f, err := d.follow(id)
	if err != nil {
		return nil, everyOver, err
	}
	readTime := d.readTime
	if v.State == report.StateInterrupted { // without a coordinator a view requires the whole journal, so it is not made more often
		readTime = 0
	}
	doc, err := f.document(v, windowOf(q), readTime)
	if err != nil {
		d.forget(id)
	}
	doc.Rented = d.rented(ctx, doc.rent, v)
	switch {
	case doc.Reading:
		return doc, everyPart, err
	case live(v):
		return doc, everyLive, err
	}
	return doc, everyOver, err
}

// windowOf returns the window that a page requests in milliseconds since 1970, by default the whole job.
func windowOf(q url.Values) window {
	at := func(key string) job.Time {
		ms, err := strconv.ParseInt(q.Get(key), 10, 64)
		if err != nil || ms < 0 || ms > 1<<42 {
			return 0
		}
		return job.Time(ms * 1e6)
	}
	w := window{at("from"), at("to")}
	if w.to <= w.from {
		return window{}
	}
	return w
}

// follow returns the follower of a run, which all pages share.
func (d *documents) follow(id job.ID) (f *follower, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f = d.drop(id); f == nil {
		if f, err = follow(d.Home.Run(id)); err != nil {
			return nil, err
		}
	}
	d.runs = append(d.runs, f)
	d.runs = d.runs[max(0, len(d.runs)-maxFollowed):]
	return f, nil
}

// forget drops the follower of a run whose journal could not be read.
func (d *documents) forget(id job.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(id)
}

// drop takes out the follower of a run and returns it, or nil.
func (d *documents) drop(id job.ID) (f *follower) {
	if i := slices.IndexFunc(d.runs, func(f *follower) bool { return f.Run.ID == id }); i >= 0 {
		f = d.runs[i]
		d.runs = slices.Delete(d.runs, i, i+1)
	}
	return f
}

func (d *documents) history(ctx context.Context) (historyDocument, error) {
	doc := historyDocument{Page: "history", Runs: []past{}}
	s, err := history.Open(ctx, d.Home.Database())
	if err != nil {
		return doc, err
	}
	defer s.Close()
	if doc.Accuracy, err = s.Accuracy(ctx, ""); err != nil {
		return doc, err
	}
	if doc.Slowness, err = s.Slowness(ctx); err != nil {
		return doc, err
	}
	doc.Slowness.Hosts = doc.Slowness.Hosts[:min(mostSlowHosts, len(doc.Slowness.Hosts))]
	views, _, err := d.List(ctx)
	for _, v := range slices.Backward(views) {
		if v.ActualS != nil && v.Predicted != nil && v.Predicted.UpSeconds > 0 {
			doc.Runs = append(doc.Runs, past{v.ID, v.Name, v.Ended, v.Predicted.LowSeconds, v.Predicted.UpSeconds, *v.ActualS})
		}
	}
	return doc, err
}
