package coordinator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/journal"
)

// recover brings back the state in which the coordinator before ended: the
// journals of jobs that are not over, and that of nodes and allocations.
func (s *Server) recover() error {
	open, err := s.reopenAll()
	if err != nil {
		return err
	}
	over := outdated{ended: make(map[job.AllocID]job.Time)}
	var last job.Time
	torn, err := s.journals.Replay(open, func(e event.Entry) error {
		over.see(e)
		last = max(last, e.At)
		if s.notOurs(e.Record) {
			return nil
		}
		s.engine.Replay(e)
		s.remember(e)
		return nil
	})
	if err != nil {
		return err
	}
	s.clock.notBefore(last)
	s.ahead = s.clock.ahead() // drivers tell anew when allocations end
	for id, n := range torn {
		s.log.Warn("the end of a journal was torn and is cut off", "job", id, "bytes", n)
	}
	s.journals.NumberFrom(uint64(time.Now().UnixMicro()))
	for _, id := range open {
		if _, known := s.engine.Job(id); !known { // its journal was begun and no more: its command submits it again
			s.drop(id)
		}
	}
	s.compact(over)
	s.goOn()
	return nil
}

// goOn continues the job logs, and writes the history of jobs that ended before a coordinator
// that died could.
func (s *Server) goOn() {
	for _, j := range s.engine.Jobs() {
		l := s.jobs[j.ID]
		if l == nil {
			continue
		}
		s.startJoblog(l)
		if j.State.Final() { // it ended, and the coordinator died before its history was written
			l.joblog.note(event.JobEnded{})
			s.ended(l)
		}
	}
}

// reopenAll loads the runs that are not over, and returns those that can be read.
func (s *Server) reopenAll() (open []job.ID, err error) {
	runs, err := s.home.List()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !unfinished(r) || s.leaves(r) {
			continue
		}
		l, err := s.reopen(r)
		if err != nil {
			s.log.Error("a run cannot be read and stays as it is", "job", r.ID, "err", err)
			continue
		}
		s.keep(l)
		open = append(open, r.ID)
	}
	return open, nil
}

// reopen loads a run that is not over. One whose folder or journal is damaged is an
// error, found before its first record counts: it stops no other.
func (s *Server) reopen(r home.Run) (*live, error) {
	if err := checkJournal(r); err != nil {
		return nil, err
	}
	return s.load(r.ID)
}

// checkJournal reads a run's journal through.
func checkJournal(r home.Run) error {
	_, err := journal.Replay(r.Journal(), func(e event.Entry) error {
		if of := e.Record.Of(); of != r.ID {
			return &job.Error{Class: job.User, Code: job.CodeIO, Where: r.Journal(),
				What: fmt.Sprintf("record number %d belongs to %q", e.Seq, of), Do: "the folder is a copy of another run: move it away"}
		}
		return nil
	})
	return err
}

// remember lets views see a record, and returns the job that it belongs to, nil for none.
func (s *Server) remember(e event.Entry) *live {
	s.noteRented(e.Record)
	id := e.Record.Of()
	if id == "" {
		s.nodes.Apply(e)
		return nil
	}
	l := s.jobs[id]
	if l != nil {
		l.observe(e)
	}
	return l
}

// unfinished reports whether a run was submitted and is not known to be over.
func unfinished(r home.Run) bool {
	if _, err := os.Stat(r.Journal()); errors.Is(err, fs.ErrNotExist) {
		return false // its command died before it was submitted
	}
	_, over := archived(r) // a summary that cannot be read is written anew from the journal
	return !over
}

// recall takes up a job that is not in memory, as it was over, so that it can be resumed.
// fresh is what was loaded of it; it is left alone if the job is in memory. It runs in the loop.
func (s *Server) recall(fresh *live) (*live, error) {
	id := fresh.Spec.ID
	if l := s.jobs[id]; l != nil {
		return l, nil
	}
	err := s.journals.Recall(id, func(e event.Entry) error {
		s.engine.Replay(e)
		fresh.observe(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	over, archived := fresh.ends()
	close(over)
	close(archived)
	s.keep(fresh)
	return fresh, nil
}
