package coordinator

import (
	"context"
	"net/http"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/control"
)

// cancel cancels a job or tasks of it.
func (s *Server) cancel(_ context.Context, id job.ID, req control.Cancel) error {
	in := step.Cancel{Job: id, Reason: req.Reason}
	if len(req.Tasks) > 0 {
		l := s.lookup(id)
		if l == nil {
			return s.notInMemory(id)
		}
		tasks, err := l.find(req.Tasks)
		if err != nil {
			return err
		}
		for _, i := range tasks {
			in.Tasks = append(in.Tasks, int32(i))
		}
		if _, err := recordable(event.TasksCancelled{Job: id, Tasks: in.Tasks, Reason: in.Reason}); err != nil {
			return err
		}
	}
	return s.callFor(id, func() error { return s.step(in) })
}

func (l *live) find(names []string) ([]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.Find(names)
}

// states answers with the states of tasks.
func (s *Server) states(r *http.Request) (any, error) {
	l := s.lookup(named(r))
	if l == nil {
		return nil, s.notInMemory(named(r))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tasks, err := l.report.Find(r.URL.Query()["task"])
	return control.States{States: l.report.States(tasks)}, err
}
