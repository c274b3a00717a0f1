package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/mapreduce"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// archivePatience is how long those who watch a job that is over wait for what is to be
// written of it in folders of the user's.
const archivePatience = 30 * time.Second

// archive writes what stays of a job that is over: its journal made durable, its place in
// history and the profile, its job log, its summary. What fails is told and fails no job.
// It returns false if the coordinator ended before there was a summary.
//
// It runs beside the loop and may take for ever, as it touches folders of the user's. Journal and history are written to the disk at
// the same time: a job whose end a power failure takes back ends again, and its row in the history is replaced. Those who watch it
// wait until the journal is on the disk, but not for the rest: whoever reads the history waits for the row, and the coordinator tells
// of the job. The summary comes last: until it is there the next coordinator does all of it again.
func (s *Server) archive(l *live, log *joblog, letGo func()) bool {
	l.mu.Lock()
	view := l.report.View(s.now())
	view.Rented = l.rented
	runs := l.byApplication(historyOf(l, view))
	l.mu.Unlock()
	var durable sync.WaitGroup
	durable.Go(s.makeDurable)
	var errs []error
	if l.Spec.Kind == job.MapReduce && view.State != string(event.StateDone) {
		errs = append(errs, mapreduce.AbortJob(l.Spec.MapReduce)) // parts that are in place stay, for a resume
	}
	log.wait()
	removeEmpty(l.Spec)
	held, save := make(chan struct{}), make(chan error, 1)
	go func() { save <- s.saveRuns(runs, sync.OnceFunc(func() { close(held) })) }()
	durable.Wait()
	<-held
	letGo()
	saved, written := s.summarize(l, view, runs, <-save)
	errs = append(errs, saved, s.journals.Retire(l.Spec.ID))
	if err := errors.Join(errs...); err != nil {
		s.log.Error("the history of a job is not whole", "job", l.Spec.ID, "err", err)
	}
	l.setSummary(view)
	return written
}

// saveRuns writes runs into the history. held is called once whoever reads it finds all of them, or they cannot be written.
func (s *Server) saveRuns(runs []measuredRun, held func()) error {
	defer held()
	var errs []error
	for i, r := range runs {
		last := held
		if i < len(runs)-1 {
			last = nil
		}
		errs = append(errs, s.store().SaveRun(context.Background(), r.Run, r.measures, last))
	}
	return errors.Join(errs...)
}

// summarize writes the summary of a job, whose runs are in the history unless saved says why not. Nobody finds a job that is neither
// in memory nor has a summary, so it tries both again until the summary is written, for instance once the disk has room. It returns
// the error of the history, and false if the coordinator ended before.
func (s *Server) summarize(l *live, view report.JobView, runs []measuredRun, saved error) (told error, written bool) {
	for tried := false; ; tried = true {
		if tried {
			saved = s.saveRuns(runs, func() {})
		}
		err := statedir.WriteJSON(l.run.Summary(), view)
		if err == nil {
			return saved, true
		}
		if !tried {
			s.log.Error("the summary of a job cannot be written; it is tried again until it can", "job", l.Spec.ID, "err", err)
			l.note(fmt.Sprintf("the job is over, but its summary cannot be written: %v; free space on that disk", err))
		}
		select {
		case <-time.After(roomCheck):
		case <-s.stopped:
			return saved, false
		}
	}
}

// removeEmpty removes the folder in which a bag had a place for what its tasks print, if nothing is in it.
func removeEmpty(spec *job.Spec) {
	if spec.Bag == nil {
		return
	}
	for _, template := range []string{spec.Bag.Stdout, spec.Bag.Stderr} {
		if folder := job.OutputFolder(template, spec.ID); filepath.Base(folder) == string(spec.ID) {
			_ = os.Remove(folder) // fails if something is in it
		}
	}
}

// historyOf returns the run as the history keeps it.
func historyOf(l *live, v report.JobView) history.Run {
	p := l.Plan
	r := history.Run{ID: v.ID, Name: v.Name, Kind: v.Kind, App: p.App, AppByPath: predict.ApplicationByPath(l.Spec), NodeType: p.NodeType, State: v.State,
		Tasks: p.Tasks, Reduces: p.Reduces, InputBytes: p.InputBytes, Nodes: p.Alloc.Nodes, CPUs: p.Alloc.PerNode.CPUs,
		Source: p.Source, Ended: job.Time(v.Ended.UnixNano())}
	if l.Spec.Kind == job.Bag {
		r.Tasks = v.TasksTotal // an open bag has more than it was planned with
	}
	if !v.Started.IsZero() {
		r.Started = job.Time(v.Started.UnixNano())
	}
	if p.Predicted != nil {
		r.Predicted = &p.Predicted.Interval
	}
	if v.ActualS != nil {
		r.Actual = *v.ActualS
	}
	besideQueue(&r, p, v)
	if x := v.Rented; x != nil {
		r.Cost = &x.Came.Cost
		if x.Predicted != nil {
			r.CostPredicted = &x.Predicted.Cost
		}
	}
	if r.InputBytes == 0 {
		r.InputBytes = v.BytesIn
	}
	return r
}

// besideQueue puts what the plan expected of the queue beside what came of it.
func besideQueue(r *history.Run, p plan.Plan, v report.JobView) {
	if p.Predicted != nil {
		r.Median = &p.Predicted.Median
	}
	if o := p.Outlook; o != nil {
		r.WaitPredicted = &o.Start
		if s := p.Start; s != nil {
			up := o.Start - o.Wait // until workers are ready
			median, low, high := s.Median+up, s.Low+up, s.High+up
			r.WaitPredicted, r.WaitLow, r.WaitHigh = &median, &low, &high
		}
		if o.Turnaround > 0 {
			r.TurnaroundPredicted = &o.Turnaround
		}
	}
	r.Wait, r.Turnaround, r.Allocs, r.Plans = v.WaitS, v.TurnaroundS, v.AllocsTotal, v.PlansTotal
	asked := append([]job.AllocRequest{p.Alloc}, p.More...)
	for _, a := range asked {
		r.AskedNodes += a.Nodes
		r.AskedTime = max(r.AskedTime, a.Time.Seconds())
	}
	if slices.ContainsFunc(asked, func(a job.AllocRequest) bool { return a.Time == 0 }) {
		r.AskedTime = 0 // that one is unlimited
	}
}

// ended writes what stays of a job that is over, beside the loop, and then tells those who
// watch it. They do not wait for ever: the job is over, whatever a file system does.
func (s *Server) ended(l *live) {
	l.setRented(s.rentedFor(l))
	s.archiving.Add(1)
	log := l.joblog
	over, archived := l.ends()
	letGo := sync.OnceFunc(func() { close(over) })
	go func() {
		defer s.archiving.Done()
		if !s.archive(l, log, letGo) {
			return
		}
		letGo()
		close(archived)
		s.post(func() { s.round.after = append(s.round.after, s.tidy, s.prune) })
	}()
	go func() {
		select {
		case <-over:
		case <-time.After(archivePatience):
			s.log.Error("a job is over, but a file system does not take what is to be written of it", "job", l.Spec.ID)
			l.note("what is to be written of the job (its job log, or the removal of its unfinished output) is not written yet: the file system does not answer, or nobody reads the pipe")
			letGo()
		}
	}()
}
