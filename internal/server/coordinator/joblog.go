package coordinator

import (
	"errors"
	"syscall"

	"berth/internal/core/event"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// joblog is the writer of a job's log (--joblog), a goroutine of its own. The log is a file
// of the user's: it may be on a file system that does not answer, or a named pipe that
// nobody reads. So neither the loop nor another job may ever wait for it. The writer needs
// no queue, however far it falls behind: it reads the job's journal at its own pace.
type joblog struct {
	news  chan struct{} // holds a value while there may be records that were not read
	ended chan struct{} // closed when the job is over
	done  chan struct{} // closed when the log is written as far as it can be
}

// startJoblog starts the writer of a job that is taken on, resumed or recovered, if the user
// wants a log. It runs in the loop.
func (s *Server) startJoblog(l *live) {
	if l.Spec.Bag == nil || l.Spec.Bag.Joblog == "" {
		return
	}
	l.joblog = &joblog{news: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{})}
	go s.writeJoblog(l, l.joblog)
}

// note lets the writer know that the job's journal has a new record. It never blocks.
func (w *joblog) note(r event.Record) {
	if w == nil {
		return
	}
	switch r.(type) {
	case event.JobEnded:
		close(w.ended)
	case event.AttemptEnded:
		select {
		case w.news <- struct{}{}:
		default: // it will look at the journal anyway
		}
	}
}

// wait returns when the log is written as far as it can be.
func (w *joblog) wait() {
	if w != nil {
		<-w.done
	}
}

// writeJoblog writes the log until the job is over. What could not be written is tried once
// more then, as a disk that was full may have room again.
func (s *Server) writeJoblog(l *live, w *joblog) {
	defer close(w.done)
	err := s.followJournal(l, w)
	if err != nil && !errors.Is(err, errStopped) && !errors.Is(err, syscall.EPIPE) {
		s.log.Error("the job log cannot be written; this is tried again when the job is over", "job", l.Spec.ID, "err", err)
		select {
		case <-w.ended:
			err = s.followJournal(l, w)
		case <-s.stopped:
			return
		}
	}
	if err != nil && !errors.Is(err, errStopped) {
		s.log.Error("the job log is not complete", "job", l.Spec.ID, "err", err)
	}
}

// followJournal writes all attempts of the job's journal that are not in the log yet, and
// those that end from now on. It returns errStopped where the coordinator ends before the job.
func (s *Server) followJournal(l *live, w *joblog) (err error) {
	log, err := report.ContinueJoblog(l.Spec.Bag.Joblog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var failed error
	info := rundir.Info(l.run, l.Decided)
	info.Nodes = s.nodes
	info.OnAttempt = func(row report.AttemptRow) {
		own, entry, _ := l.Tasks.Of(l.Spec, row.Task)
		failed = log.Attempt(row, own.Bag.CommandLine(entry, row.Task))
	}
	fold, at := report.New(info), int64(0)
	for {
		over := closed(w.ended)
		at, err = s.journals.Since(l.Spec.ID, at, func(e event.Entry) error {
			fold.Apply(e)
			return failed
		})
		if err != nil || over {
			return err
		}
		select {
		case <-w.news:
		case <-w.ended:
		case <-s.stopped:
			if !closed(w.ended) {
				return errStopped
			}
		}
	}
}
