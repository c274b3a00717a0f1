package coordinator

import (
	"context"
	"net/http"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/control"
	"berth/internal/server/report"
)

// cancel cancels a job or tasks of it.
func (s *Server) cancel(_ context.Context, id job.ID, req control.Cancel) error {
	in := step.Cancel{Job: id, Reason: req.Reason}
	if len(req.Tasks) > 0 {
		l := s.lookup(id)
		if l == nil {
			return s.notInMemory(id)
		}
		var tasks []int
		var err error
		if l.with(func(j *report.Job) { tasks, err = j.Find(req.Tasks) }); err != nil {
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

// states answers with the states of tasks.
func (s *Server) states(l *live, w http.ResponseWriter, r *http.Request) {
	var all control.States
	var err error
	l.with(func(j *report.Job) {
		var tasks []int
		tasks, err = j.Find(r.URL.Query()["task"])
		all.States = j.States(tasks)
	})
	answer(w, all, err)
}
