package coordinator

import (
	"fmt"
	"net/http"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/wire"
)

// printedPatience is how long a worker may take to answer what a task has printed.
const printedPatience = 10 * time.Second

// running answers with the attempts of a job that run.
func (s *Server) running(l *live, w http.ResponseWriter, _ *http.Request) {
	var all control.Running
	l.with(func(j *report.Job) { all.Attempts = j.RunningAttempts() })
	answer(w, all, nil)
}

// printed answers with a part of what the task of an attempt has printed.
func (s *Server) printed(r *http.Request) (any, error) {
	m := &wire.ReadOutput{Attempt: job.Attempt{Job: named(r)}, Stderr: r.URL.Query().Get("stderr") == "true"}
	of := &m.Attempt
	if _, err := fmt.Sscan(r.PathValue("task")+" "+r.PathValue("attempt")+" "+r.URL.Query().Get("offset"), &of.Task, &of.N, &m.Offset); err != nil {
		return nil, job.FatalError("", "the request names no attempt", nil)
	}
	if err := m.Check(); err != nil {
		return nil, job.FatalError("", "the request makes no sense", err)
	}
	var answer chan wire.Message
	err := s.callFor(of.Job, func() error {
		var node job.NodeID
		s.jobs[of.Job].with(func(j *report.Job) { node = j.NodeOf(*of) })
		if ses := s.sessions[node]; ses != nil {
			m.N, answer = s.outputs.begin(ses)
			s.send(node, m)
		}
		return nil
	})
	if err != nil || answer == nil {
		return control.Printed{}, err
	}
	defer s.outputs.end(answer)
	return await(r, answer)
}

// await waits for a worker's answer.
func await(r *http.Request, answer chan wire.Message) (any, error) {
	select {
	case m := <-answer:
		said, ok := m.(*wire.Printed)
		switch {
		case !ok: // its worker is gone
			return control.Printed{}, nil
		case said.Error != "":
			return nil, job.IOError(job.Transient, "", "what the task has printed cannot be read on its node: "+said.Error, nil)
		}
		return control.Printed{Data: said.Data}, nil
	case <-time.After(printedPatience):
		return nil, job.IOError(job.Transient, "", "the task's node does not answer", nil).Advice("try again later")
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
