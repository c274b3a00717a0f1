package coordinator

import (
	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/report"
	"berth/internal/step"
)

// maxOver is how many jobs that are over the coordinator keeps in memory though their nodes
// have something of them from which they could go on. A job that was dismissed can be
// resumed as well, but makes those map outputs anew.
const maxOver = 16

// tidy takes jobs that are over, and of which all is written that stays, out of memory. What
// is asked about them from then on is read from their folders. It runs in the loop, when
// nothing is left to be done for records: a job could have been resumed in the same round.
func (s *Server) tidy() {
	over := s.overInOrder()
	for i, l := range over {
		s.dismiss(l, i < len(over)-maxOver)
	}
	if len(over) > 0 {
		s.nodes.Dismiss(s.engine.Oldest())
	}
}

// overInOrder returns the jobs that are over and of which all is written, oldest first.
func (s *Server) overInOrder() []*live {
	var over []*live
	for _, l := range s.inOrder() {
		status, known := s.engine.Job(l.Spec.ID)
		if _, archived := l.ends(); known && status.State.Final() && closed(archived) {
			over = append(over, l)
		}
	}
	return over
}

// dismiss takes a job that is over out of memory, if nothing of it may be of use any more or
// if it must go. Then nodes are told to drop what they have of it. It runs in the loop.
func (s *Server) dismiss(l *live, must bool) bool {
	id := l.Spec.ID
	if !s.engine.Dismiss(id, must) {
		return false
	}
	for node, ses := range s.sessions {
		if ses.told[id] {
			s.Forget(step.Forget{Node: node, Job: id})
		}
	}
	s.journals.Dismiss(id)
	s.drop(id)
	return true
}

// archived returns the summary of a run that is over, false where it has none.
func archived(r home.Run) (report.JobView, bool) {
	var v report.JobView
	err := home.ReadJSON(r.Summary(), &v)
	return v, err == nil && event.State(v.State).Final()
}

// notHere says of a job that is not in memory whether it is over or was never there.
func (s *Server) notHere(id job.ID) error {
	if home.RunNumber(id) > 0 {
		if v, ok := archived(s.home.Run(id)); ok {
			return &job.Error{Class: job.User, Code: job.CodeArguments, Where: string(id), What: "the job is over: it is " + v.State}
		}
	}
	return unknownJob(id)
}
