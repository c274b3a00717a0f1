package coordinator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/server/history"
	"berth/internal/server/report"
)

// archivePatience is how long those who watch a job that is over wait for what is to be
// written of it in folders of the user's.
const archivePatience = 30 * time.Second

// ending is a job that is over, while what stays of it is written. That is done beside the loop, as it touches folders of the user's and
// may take for ever. A job first shows that it is over, and then finishes: until its summary is marked as archived the next coordinator
// does all of it again.
type ending struct {
	s         *Server
	l         *live
	log       *joblog
	view      report.JobView // its summary
	runs      []history.Measured
	durable   sync.WaitGroup // until the records are
	saving    <-chan error   // has the error of the history once that is on the disk
	saved     error          // and this is that error
	unwritten error          // why there is no summary yet; nil: there is one
	tell      sync.Once      // so that who looks at the job is told of that once
}

// ended archives a job that is over. Those who watch it see its end once that is durable: its output and its job log
// are as they stay, its summary is there, and whoever reads the history waits for its row. They do not wait for ever: the job is over, whatever a
// file system does.
func (s *Server) ended(l *live) {
	s.noteUsed(l.run.ID)
	log, rented := l.joblog, s.rentedFor(l)
	over, archived := l.ends()
	letGo := sync.OnceFunc(func() { close(over) })
	s.beside.Go(func() {
		e := s.endingOf(l, log, rented)
		late := time.AfterFunc(archivePatience, func() { e.late(); letGo() })
		e.durable.Go(s.makeDurable)
		e.clean()
		e.write()
		late.Stop()
		letGo()
		if e.finish() {
			close(archived)
			s.post(func() { s.round.after = append(s.round.after, s.tidy, s.prune) })
			e.awaitLog()
		}
	})
}

// noteUsed records with the next round what a job that is over has had of the allocations that others may still use.
func (s *Server) noteUsed(id job.ID) {
	s.round.at = s.now()
	for _, r := range s.nodes.Used(id) {
		s.round.records = append(s.round.records, r)
	}
}

// endingOf returns a job that is over with what is to be written of it.
func (s *Server) endingOf(l *live, log *joblog, rented *report.Rented) *ending {
	l.mu.Lock()
	defer l.mu.Unlock()
	view := l.report.View(s.now())
	view.Rented = rented
	return &ending{s: s, l: l, log: log, view: view, runs: l.byApplication(historyOf(l, view))}
}

// late tells why nobody waits for the end of the job any longer.
func (e *ending) late() {
	e.s.log.Error("a job is over, but a file system does not take what is to be written of it", "job", e.l.run.ID)
	e.l.with(func(j *report.Job) {
		j.AddNote("what is to be written of the job (its job log, or the removal of its unfinished output) is not written yet: the file system does not answer, or nobody reads the pipe")
	})
}

// clean removes what the job leaves unfinished in folders of the user's, and waits for its job log.
func (e *ending) clean() {
	spec := e.l.Spec
	if spec.Kind == job.MapReduce && e.view.State != event.StateDone {
		if err := mapreduce.AbortJob(spec.MapReduce, spec.ID); err != nil { // parts that are in place stay, for a resume
			e.s.log.Error("the unfinished output of a job is not removed", "job", spec.ID, "err", err)
		}
	}
	e.log.wait()
	e.noteLog()
	removeEmpty(spec)
}

// write begins to write the history, and writes the summary once the journal is durable. The history does not wait for that, as its row is
// replaced if a power failure takes the end of the job back. A summary would say that a job is over that goes on.
func (e *ending) write() {
	commit, err := e.s.store().Save(context.Background(), e.runs...) // from now on whoever reads the history waits for these runs
	saving := make(chan error, 1)
	e.saving = saving
	go func() {
		if err == nil {
			err = commit()
		}
		saving <- err
	}()
	e.durable.Wait()
	if e.unwritten = e.l.writeSummary(e.view); e.unwritten != nil {
		e.tellUnwritten()
	}
}

// finish waits until all is on the disk, and then retires the journal. Nobody finds a job that is neither in memory nor has a summary, so
// it tries again until that is written, for instance once the disk has room. It returns false if the coordinator ended before.
func (e *ending) finish() bool {
	for !e.filed() {
		select {
		case <-time.After(roomCheck):
		case <-e.s.stopped:
			return false
		}
		e.write()
	}
	e.s.file(e.l.run)
	if err := errors.Join(e.saved, e.s.journals.Retire(e.l.run.ID)); err != nil {
		e.s.log.Error("the history of a job is not whole", "job", e.l.run.ID, "err", err)
	}
	return true
}

// awaitLog waits until the job's log is complete after all, or is not any more to be completed, and then has the summary say so.
func (e *ending) awaitLog() {
	if !e.log.lacks() {
		return
	}
	select {
	case <-e.log.done:
	case <-e.s.stopped:
		return
	}
	e.s.post(func() {
		status, known := e.s.engine.Job(e.l.run.ID)
		if e.s.jobs[e.l.run.ID] != e.l || known && !status.State.Final() { // it was removed, or resumed
			return
		}
		e.noteLog()
		err := e.l.writeSummary(e.view)
		if err == nil {
			err = e.l.run.MarkArchived()
		}
		e.s.file(e.l.run)
		if err != nil { // the next coordinator does it again
			e.s.log.Error("the summary of a job does not say that its log is complete", "job", e.l.run.ID, "err", err)
		}
	})
}

// noteLog has the summary say whether the job's log is complete.
func (e *ending) noteLog() {
	e.l.mu.Lock()
	defer e.l.mu.Unlock()
	e.view.SetUnlogged(e.l.lacksLog())
}

// filed waits for the history, and then marks the summary as archived. It returns false if there is none on the disk.
func (e *ending) filed() bool {
	e.saved = <-e.saving
	if e.unwritten == nil {
		e.notify()
	}
	if e.unwritten == nil && !e.log.lacks() { // else the next coordinator goes on with the log
		e.unwritten = e.l.run.MarkArchived()
	}
	if e.unwritten != nil {
		e.tellUnwritten()
	}
	return e.unwritten == nil
}

// tellUnwritten tells once why there is no summary.
func (e *ending) tellUnwritten() {
	e.tell.Do(func() {
		e.s.log.Error("the summary of a job cannot be written; it is tried again until it can", "job", e.l.run.ID, "err", e.unwritten)
		e.l.with(func(j *report.Job) {
			j.AddNote(fmt.Sprintf("the job is over, but its summary cannot be written: %v; free space on that disk", e.unwritten))
		})
	})
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
