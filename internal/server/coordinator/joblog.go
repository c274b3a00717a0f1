package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"berth/internal/core/event"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// joblog is the writer of a job's log (--joblog), a goroutine of its own. The log is a file
// of the user's: it may be on a file system that does not answer, or a named pipe that
// nobody reads. So neither the loop nor another job may ever wait for it. The writer needs
// no queue, however far it falls behind: it reads the job's journal at its own pace.
type joblog struct {
	of    *rundir.Decided // the job; berth set may give it another spec meanwhile
	ended chan struct{}   // closed when the job is over
	tried chan struct{}   // closed when the job is over and the log is complete, or could not be completed
	done  chan struct{}   // closed when the writer has ended
	lack  atomic.Bool     // the job was over before the log could be completed, which is tried again

	replaced context.Context // is over once another writer writes the file
	replace  func()          // has the writer end, as another one writes its file
}

// startJoblog starts the writer of a job that is taken on, resumed or recovered, if the user
// wants a log. A file that several jobs name is that of the last one, which writes it anew. It runs in the loop.
func (s *Server) startJoblog(l *live) {
	if l.Spec.Bag == nil || l.Spec.Bag.Joblog == "" {
		return
	}
	if l.logTaken != "" {
		return
	}
	var before []*joblog
	if l.joblog != nil {
		before = append(before, l.joblog)
		l.joblog.replace()
	}
	anew := false
	for _, o := range s.jobs {
		if o != l && o.joblog != nil && o.log != 0 && o.log == l.log {
			before, anew = append(before, o.joblog), true
			o.takeLog(l.run.ID)
			o.joblog.replace()
		}
	}
	l.joblog = &joblog{of: l.Decided, ended: make(chan struct{}), tried: make(chan struct{}), done: make(chan struct{})}
	l.joblog.replaced, l.joblog.replace = context.WithCancel(context.Background())
	go s.writeJoblog(l, l.joblog, before, anew)
}

// end lets the writer know that the job is over.
func (w *joblog) end() {
	if w != nil {
		close(w.ended)
	}
}

// wait returns when the log of a job that is over is complete, or could not be completed.
func (w *joblog) wait() {
	if w != nil {
		<-w.tried
	}
}

// lacks reports whether the writer still tries to complete the log of a job that is over.
func (w *joblog) lacks() bool { return w != nil && w.lack.Load() }

// errRemoved means that the file of the log was removed while it was written.
var errRemoved = errors.New("the job log was removed")

// longestPause is how often the writer tries again at last to complete a log that cannot be written.
const longestPause = time.Minute

// writeJoblog writes the log until the job is over and the log is complete. While it cannot be written, as its disk is full, who looks at the
// job is told, and the writer tries again.
func (s *Server) writeJoblog(l *live, w *joblog, before []*joblog, anew bool) {
	defer close(w.done)
	for _, b := range before {
		<-b.done
	}
	letGo := sync.OnceFunc(func() { close(w.tried) })
	defer letGo()
	for pause := roomCheck; ; pause = min(2*pause, longestPause) {
		over := closed(w.ended)
		var err error
		if anew {
			err = report.CreateJoblog(w.of.Spec.Bag.Joblog)
		}
		if err == nil {
			anew, err = false, s.followJournal(l, w)
		}
		switch {
		case errors.Is(err, errRemoved):
			continue // it is written anew, if its folder is there
		case err == nil, errors.Is(err, errStopped), errors.Is(err, syscall.EPIPE): // whoever reads a pipe has seen enough
			return
		}
		if l.lackLog(fmt.Sprintf("the job log is not complete: %v", err)); pause == roomCheck {
			s.log.Error("the job log cannot be written; this is tried again", "job", l.run.ID, "err", err)
		}
		if over && errors.Is(err, fs.ErrNotExist) { // its folder was removed
			return
		}
		ended := w.ended
		if over {
			ended = nil
			w.lack.Store(true)
			letGo()
		}
		select {
		case <-time.After(pause):
		case <-ended:
		case <-w.replaced.Done():
			return
		case <-s.stopped:
			return
		}
	}
}

// followJournal writes all attempts of the job's journal that are not in the log yet, and
// those that end from now on. It returns errStopped where the coordinator ends before the job, or another writer writes the file.
func (s *Server) followJournal(l *live, w *joblog) (err error) {
	log, err := report.ContinueJoblog(w.of.Spec.Bag.Joblog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var failed error
	run := rundir.FollowDecided(l.run, w.of, func(info *report.Info) {
		info.Nodes, info.Reads = s.nodes, true
		info.OnAttempt = func(row report.AttemptRow) {
			own, entry, _ := w.of.Tasks.Of(w.of.Spec, row.Task)
			if failed == nil {
				failed = log.Attempt(row, own.Bag.CommandLine(entry, row.Task))
			}
		}
	})
	for {
		over, next := closed(w.ended), l.next()
		err = run.Look(func(event.Entry) error {
			if failed == nil && w.replaced.Err() != nil {
				failed = errStopped
			}
			return failed
		})
		if err != nil {
			return err
		}
		l.lackLog("") // what could not be written before is written
		if over && log.Removed() {
			return errRemoved
		}
		if over {
			return nil
		}
		select {
		case <-next:
		case <-w.ended:
		case <-w.replaced.Done():
			return errStopped
		case <-s.stopped:
			if !closed(w.ended) {
				return errStopped
			}
		}
	}
}
