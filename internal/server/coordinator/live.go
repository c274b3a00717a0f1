package coordinator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/node/files"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// live is a job that the coordinator has in hand: what is to be done, and what the records
// have made of it.
type live struct {
	run statedir.Run
	assignment
	joblog *joblog    // the loop's own; nil: none is wanted
	log    uint64     // stands for the path of the job's log; 0: it has none, or one that is no file
	adding sync.Mutex // held while tasks are added, or options changed
	added  int        // tasks that were added to an open bag, once they are recorded; the loop's own
	spare  int        // bytes that records may use before it is asked whether there is room (spacious); adding guards it

	mu       sync.Mutex // guards what follows
	report   *report.Job
	measured measured
	ofNeeds  []predict.Collector     // of bag tasks with the same needs, by their index (job.Work.NeedsAt); nil: all need the same
	worked   map[int][]job.PhaseStat // by task that is not done: the phases of its attempts that asked for another one
	over     chan struct{}           // closed when whoever watches the job need not wait any longer
	archived chan struct{}           // closed when the job is over and all that stays of it is written
	news     chan struct{}           // closed by the next record; nil: nobody waits for it
	logTaken job.ID                  // the job that named the file of the job's log later, which only the loop notes; empty: none did
	unlogged string                  // why else the job's log is not complete; empty: it is, as far as is known
	last     *report.JobView         // the job as it stands in its summary; nil: there is none yet
}

// assignment is what is to be done, as its command wrote it into the run's folder. A resume replaces it, and berth set: the loop does, holding mu, and
// for a job that is not over also adding. So others read it while they hold one of these.
type assignment struct {
	*rundir.Decided
	specJSON  []byte
	specApart []byte // for nodes that do not see the user's files (job.Spec.Apart)
}

func newAssignment(d *rundir.Decided) (a assignment, err error) {
	spec, err := json.Marshal(d.Spec)
	apart, errApart := json.Marshal(d.Spec.Apart())
	if err := cmp.Or(err, errApart); err != nil {
		return a, fmt.Errorf("encode the spec of %s: %w", d.Spec.ID, err)
	}
	return assignment{d, spec, apart}, nil
}

// load reads a run's folder.
func (s *Server) load(id job.ID) (*live, error) {
	folder := s.home.Run(id)
	d, err := rundir.Open(folder)
	if err != nil {
		return nil, err
	}
	d.Plan.Outlook = d.Plan.Outlook.Brief()
	a, err := newAssignment(d)
	if err != nil {
		return nil, err
	}
	l := &live{run: folder, assignment: a, over: make(chan struct{}), archived: make(chan struct{})}
	if d.Spec.Bag != nil && d.Spec.Bag.Joblog != "" && !report.IsStream(d.Spec.Bag.Joblog) {
		l.log = files.PathNumber(d.Spec.Bag.Joblog)
	}
	info := rundir.Info(folder, d)
	info.Nodes = s.nodes
	l.report = report.New(info)
	return l, nil
}

// observe takes a record of the job into the view.
func (l *live) observe(e event.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report.Apply(e)
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
	switch r := e.Record.(type) {
	case event.AttemptEnded:
		switch task := r.Attempt.Task; r.Outcome {
		case event.Requeued:
			if l.worked == nil {
				l.worked = make(map[int][]job.PhaseStat)
			}
			l.worked[task] = append(l.worked[task], r.Stats...)
		case event.Done:
			l.measure(r)
		}
	case event.FilesTaken:
		if l.log != 0 && slices.Contains(r.Files, l.log) {
			l.logTaken = r.By
		}
	case event.JobResumed:
		l.logTaken, l.unlogged = "", ""
		l.report.SetPlan(rundir.Info(l.run, l.Decided).Planned)
		l.over, l.archived, l.last = make(chan struct{}), make(chan struct{}), nil
	}
}

// next returns a channel that is closed by the next record of the job.
func (l *live) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.news == nil {
		l.news = make(chan struct{})
	}
	return l.news
}

// measureNeeds adds what was measured of a task to that of the tasks with its needs.
func (l *live) measureNeeds(task int, stats []job.PhaseStat) {
	k, n := l.report.NeedsOf(task)
	if n < 2 || l.Spec.Kind != job.Bag {
		return
	}
	for len(l.ofNeeds) < n {
		l.ofNeeds = append(l.ofNeeds, predict.Collector{})
	}
	l.ofNeeds[k].Add(job.BagTask, stats)
}

// own adds to profiles of tasks with the same needs what the run has measured of them.
func (l *live) own(profiles []plan.Own) []plan.Own {
	for i := range l.ofNeeds {
		if i >= len(profiles) {
			profiles = append(profiles, plan.Own{})
		}
		profiles[i].Measured = plan.Measured(l.ofNeeds[i].Measures())
	}
	return profiles
}

// with calls use with the job's report, which nobody else uses meanwhile.
func (l *live) with(use func(*report.Job)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	use(l.report)
}

// view returns the job as it is now. Of one whose summary is written that is what it says: the
// nodes that it ran on may have left memory since.
func (l *live) view(now job.Time) report.JobView {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		return *l.last
	}
	v := l.report.View(now)
	v.SetUnlogged(l.lacksLog())
	return v
}

// brief returns what lists of jobs have of the view.
func (l *live) brief(now job.Time, running bool) report.JobView {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		return l.last.Brief(running)
	}
	return l.report.Brief(now, running)
}

// lackLog says why the job's log is not complete, and with an empty text that it is.
func (l *live) lackLog(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlogged = why
}

// lacksLog returns why the job's log is not complete, and whether that is an error. The caller holds the lock.
func (l *live) lacksLog() (why string, failed bool) {
	if l.logTaken != "" {
		return fmt.Sprintf("the job log %s is that of %s, which named the file later", l.Spec.Bag.Joblog, l.logTaken), false
	}
	return l.unlogged, true
}

// takeLog says that another job writes the file of the job's log from now on.
func (l *live) takeLog(by job.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logTaken = by
}

// view returns the view of a job.
func (s *Server) view(l *live) report.JobView { return s.told(l.view(s.now())) }

// told returns what is told of a job. While the disk is full the ends of attempts wait to be recorded and none starts, so it tells neither of
// attempts that run nor of an expected end.
func (s *Server) told(v report.JobView) report.JobView {
	if s.full.Load() && !v.State.Final() {
		v.TasksRunning, v.Running, v.EtaS, v.EtaFrom = 0, []report.RunningView{}, nil, ""
	}
	return v
}

// assign replaces what is to be done, and returns what was to be done before. It runs in the loop.
func (l *live) assign(a assignment) (before assignment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.assignment = l.assignment, a
	l.Tasks.More = before.Tasks.More // it may be appended to only by one
	return before
}

// ends returns what is closed when whoever watches the job need not wait any longer, and
// what is closed when all that stays of the job is written.
func (l *live) ends() (over, archived chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over, l.archived
}

// writeSummary writes the job's summary. It is what the job is shown as from then on.
func (l *live) writeSummary(v report.JobView) error {
	if err := l.run.WriteSummary(v); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = &v
	return nil
}
