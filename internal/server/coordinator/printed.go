package coordinator

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/wire"
)

// printedPatience is how long a worker may take to answer what a task has printed.
const printedPatience = 10 * time.Second

// readings are the questions to workers about what running tasks have printed (wire.ReadOutput).
type readings struct {
	mu   sync.Mutex
	last int64
	open map[int64]chan *wire.Printed
}

// begin returns the number of a new question, and what receives its answer.
func (r *readings) begin() (n int64, answer chan *wire.Printed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = make(map[int64]chan *wire.Printed)
	}
	r.last++
	answer = make(chan *wire.Printed, 1)
	r.open[r.last] = answer
	return r.last, answer
}

func (r *readings) end(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, n)
}

// answer passes on the first answer to a question.
func (r *readings) answer(m *wire.Printed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.open[m.N]; c != nil {
		delete(r.open, m.N)
		c <- m
	}
}

// running answers with the attempts of a job that run.
func (s *Server) running(r *http.Request) (any, error) {
	l := s.lookup(named(r))
	if l == nil {
		return nil, s.notInMemory(named(r))
	}
	return control.Running{Attempts: l.running()}, nil
}

func (l *live) running() []report.RunningAttempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.RunningAttempts()
}

// printed answers with a part of what the task of an attempt has printed.
func (s *Server) printed(r *http.Request) (any, error) {
	task, errTask := strconv.Atoi(r.PathValue("task"))
	n, errN := strconv.Atoi(r.PathValue("attempt"))
	offset, errOffset := strconv.ParseInt(r.URL.Query().Get("offset"), 10, 64)
	if errTask != nil || errN != nil || errOffset != nil {
		return nil, &job.Error{Class: job.Fatal, What: "the request names no attempt"}
	}
	m := &wire.ReadOutput{Attempt: job.Attempt{Job: named(r), Task: task, N: n}, Stderr: r.URL.Query().Get("stderr") == "true", Offset: offset}
	if err := m.Check(); err != nil {
		return nil, &job.Error{Class: job.Fatal, What: "the request makes no sense", Err: err}
	}
	var answer chan *wire.Printed
	m.N, answer = s.readings.begin()
	defer s.readings.end(m.N)
	asked := false
	err := s.callFor(m.Attempt.Job, func(id job.ID) error {
		for _, a := range s.jobs[id].running() {
			if a.Task == task && a.Attempt == n && s.sessions[a.Node] != nil {
				s.send(a.Node, m)
				asked = true
			}
		}
		return nil
	})
	if err != nil || !asked {
		return control.Printed{}, err
	}
	return await(r, answer)
}

// await waits for a worker's answer.
func await(r *http.Request, answer chan *wire.Printed) (any, error) {
	timeout := time.NewTimer(printedPatience)
	defer timeout.Stop()
	select {
	case m := <-answer:
		if m.Error != "" {
			return nil, job.IOError(job.Transient, "", "what the task has printed cannot be read on its node: "+m.Error, nil)
		}
		return control.Printed{Data: m.Data}, nil
	case <-timeout.C:
		return nil, job.IOError(job.Transient, "", "the task's node does not answer", nil).Advice("try again later")
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
