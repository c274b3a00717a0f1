package coordinator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/journal"
	"berth/internal/sys/statedir"
)

// recover restores the state in which the previous coordinator ended, by a replay of the journals of
// jobs that are not over and of the journal of nodes and allocations.
func (s *Server) recover() error {
	open, err := s.reopenAll()
	if err != nil {
		return err
	}
	var last job.Time
	torn, err := s.journals.Replay(open, func(e event.Entry) error {
		last = max(last, e.At)
		if s.isForeign(e.Record) {
			return nil
		}
		s.engine.Replay(e)
		s.remember(e)
		return nil
	})
	if err != nil {
		return err
	}
	limits, err := s.home.Limits()
	if err != nil {
		s.log.Error("the limits of what tasks use cannot be read; such tasks wait until they are set again (berth limit)", "err", err)
	}
	s.engine.SetLimits(limits)
	s.clock.notBefore(last)
	s.ahead = s.clock.ahead() // drivers will report again when allocations end
	for id, n := range torn {
		s.log.Warn("a crash interrupted the last write to a journal; its incomplete end was removed", "job", id, "bytes", n)
	}
	s.journals.NumberFrom(uint64(time.Now().UnixMicro()))
	for _, id := range open {
		if _, known := s.engine.Job(id); !known { // its journal has no records yet: its command will submit it again
			s.removeJob(id)
		}
	}
	s.limitGarbage()
	s.compact()
	s.continueJobs()
	return nil
}

// continueJobs continues the job logs, and archives the jobs that the previous coordinator had not archived
// when it died.
func (s *Server) continueJobs() {
	for _, j := range s.engine.Jobs() {
		l := s.jobs[j.ID]
		if l == nil {
			continue
		}
		s.startJoblog(l)
		if j.State.Final() { // it ended, and the coordinator died before its history was written
			l.joblog.end()
			s.ended(l)
		}
	}
}

// reopenAll loads the runs that are not over, and returns the ids of those that can be read.
func (s *Server) reopenAll() (open []job.ID, err error) {
	runs, err := s.home.List()
	if err != nil {
		return nil, err
	}
	for i, end := range s.file(runs...) {
		r := runs[i]
		if !end.IsZero() || !submitted(r) || s.leaves(r) {
			continue
		}
		l, err := s.load(r.ID)
		if err == nil {
			err = l.checkJournal() // before all are read, so that a damaged run does not affect others
		}
		if err != nil {
			s.log.Error("a run cannot be read; it is left unchanged", "job", r.ID, "err", err)
			continue
		}
		s.addJob(l)
		open = append(open, r.ID)
	}
	return open, nil
}

// checkJournal reads the whole journal of a job that the engine does not know yet, and removes added tasks that no record has. It fails if
// recorded ones cannot be read. Nobody may add tasks meanwhile.
func (l *live) checkJournal() error {
	l.added = 0
	_, err := journal.Replay(l.run.Journal(), func(e event.Entry) error {
		if of := e.Record.Of(); of != l.run.ID {
			return job.IOError(job.User, l.run.Journal(), fmt.Sprintf("record number %d belongs to %q", e.Seq, of), nil).Advice("the folder is a copy of another run: move it away")
		}
		if a, ok := e.Record.(event.TasksAdded); ok {
			l.added += a.N
		}
		return nil
	})
	if err == nil && l.Tasks.More != nil {
		err = l.Tasks.More.Cut(l.added)
	}
	return err
}

// remember applies a record to the views, and returns the job that it belongs to, or nil.
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

// submitted reports whether a run has a journal: without one its command died before it submitted the run.
func submitted(r statedir.Run) bool {
	_, err := os.Stat(r.Journal())
	return !errors.Is(err, fs.ErrNotExist)
}

// reload returns a job that is to be resumed. If the job is not in memory, because it was over, its
// journal is replayed into fresh, which was loaded from its folder. It runs in the loop.
func (s *Server) reload(fresh *live) (*live, error) {
	id := fresh.run.ID
	if l := s.jobs[id]; l != nil {
		return l, nil
	}
	if err := fresh.checkJournal(); err != nil {
		return nil, err
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
	s.addJob(fresh)
	return fresh, nil
}
