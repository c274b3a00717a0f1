package coordinator

import (
	"errors"
	"io/fs"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// maxOver is the number of jobs that are over and stay in memory because nodes have map outputs of
// them. A job that was dismissed can be resumed as well, but must make these map outputs again.
const maxOver = 16

// tidy removes jobs from memory that are over and archived. From then on, questions about them are
// answered from their folders. It runs in the loop between two rounds, because a job could have
// been resumed in the same round.
func (s *Server) tidy() {
	var over []*live // and archived, oldest first
	for _, l := range s.inOrder() {
		status, known := s.engine.Job(l.run.ID)
		if _, archived := l.ends(); known && status.State.Final() && closed(archived) && !l.joblog.lacks() {
			over = append(over, l)
		}
	}
	for i, l := range over {
		s.dismiss(l, i < len(over)-maxOver)
	}
	if len(over) > 0 {
		s.nodes.Dismiss(s.engine.Oldest())
	}
}

// dismiss removes a job that is over from memory, if nodes have no map outputs of it or if must is
// true. Workers are then told to remove what they have of the job. It runs in the loop.
func (s *Server) dismiss(l *live, must bool) bool {
	id := l.run.ID
	if !s.engine.Dismiss(id, must) {
		return false
	}
	for node, ses := range s.sessions {
		if ses.told[id] {
			s.Forget(step.Forget{Node: node, Job: id})
		}
	}
	if l.joblog != nil {
		l.joblog.replace()
	}
	s.journals.Dismiss(id)
	s.removeJob(id)
	return true
}

// file notes of runs whether and when they ended, as their folders say, and returns that (statedir.Home.Ends). It is called with all runs when the
// coordinator starts, and with a run whenever that is archived, resumed or removed, which nobody else does while there is a coordinator. So
// commands need not look at thousands of folders.
func (s *Server) file(runs ...statedir.Run) []time.Time {
	ends := s.home.Ends(runs)
	s.jobsMu.Lock()
	defer s.jobsMu.Unlock()
	for i, end := range ends {
		if s.filed[runs[i].ID] = end; end.IsZero() {
			delete(s.filed, runs[i].ID)
		}
	}
	return ends
}

// archived returns how a run ended, and false if it is not over. If its summary was damaged, its journal says how.
func (s *Server) archived(id job.ID) (v report.JobView, over bool) {
	r := s.home.Run(id)
	if s.home.Ends([]statedir.Run{r})[0].IsZero() {
		return v, false
	}
	v, err := rundir.View(r)
	return v, err == nil && v.State.Final()
}

// notInMemory returns the error for a job that is not in memory: it is over, it cannot be read, or it never existed.
func (s *Server) notInMemory(id job.ID) error {
	if statedir.RunNumber(id) > 0 {
		if v, ok := s.archived(id); ok {
			return job.ArgumentError(string(id), "the job is over: "+string(v.State), "")
		}
		if _, err := rundir.View(s.home.Run(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return unknownJob(id)
}
