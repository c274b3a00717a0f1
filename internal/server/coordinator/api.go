package coordinator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/leader"
	"berth/internal/server/report"
)

// handler serves the control interface.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for route, handle := range map[string]http.HandlerFunc{
		"GET /v1/server":            tell(s.hello),
		"POST /v1/server/stop":      s.postStop,
		"GET /v1/jobs":              tell(s.listJobs),
		"GET /v1/held":              tell(s.listHeld),
		"GET /v1/limits":            tell(s.listLimits),
		"POST /v1/limits":           tell(s.setLimits),
		"POST /v1/jobs":             take(func(ctx context.Context, _ job.ID, req control.Submit) error { return s.submit(ctx, req) }),
		"GET /v1/jobs/{id}/watch":   s.ofJob(s.watchJob),
		"GET /v1/jobs/{id}/explain": tell(s.explain),
		"GET /v1/jobs/{id}/running": s.ofJob(s.running),
		"GET /v1/jobs/{id}/states":  s.ofJob(s.states),
		"GET /v1/jobs/{id}/events":  s.ofJob(s.streamEvents),
		"POST /v1/jobs/{id}/resume": take(s.resume),
		"POST /v1/jobs/{id}/cancel": take(s.cancel),
		"POST /v1/jobs/{id}/set":    ask(s.set),
		"POST /v1/jobs/{id}/tasks":  ask(s.addTasks),
		"POST /v1/jobs/{id}/close":  done(s.closeBag),
		"POST /v1/jobs/{id}/forget": done(s.forgetRun),
		"GET /v1/jobs/{id}/tasks/{task}/attempts/{attempt}/printed": tell(s.printed),
	} {
		mux.HandleFunc(route, handle)
	}
	return mux
}

// named returns the job that a request is about.
func named(r *http.Request) job.ID { return job.ID(r.PathValue("id")) }

// nothing is the answer to a request that asks for none.
type nothing struct{}

// tell answers requests with what of returns.
func tell(of func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := of(r)
		answer(w, v, err)
	}
}

// ofJob has handle answer a request about a job that is in memory.
func (s *Server) ofJob(handle func(*live, http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l := s.lookup(named(r))
		if l == nil {
			answer(w, nil, s.notInMemory(named(r)))
			return
		}
		s.watchers.Add(1)
		defer s.watchers.Add(-1)
		handle(l, w, r)
	}
}

// done does what requests ask for with their paths alone.
func done(do func(context.Context, job.ID) error) http.HandlerFunc {
	return tell(func(r *http.Request) (any, error) { return nothing{}, do(r.Context(), named(r)) })
}

// take does what requests say in their bodies.
func take[T any](do func(context.Context, job.ID, T) error) http.HandlerFunc {
	return ask(func(ctx context.Context, id job.ID, req T) (any, error) { return nothing{}, do(ctx, id, req) })
}

// ask answers what requests ask in their bodies.
func ask[T any](do func(context.Context, job.ID, T) (any, error)) http.HandlerFunc {
	return tell(func(r *http.Request) (any, error) {
		var req T
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			return nil, job.FatalError("", "the request cannot be read", err)
		}
		return do(r.Context(), named(r), req)
	})
}

func (s *Server) hello(*http.Request) (any, error) {
	h := control.Hello{Version: control.Version, PID: os.Getpid(), Address: s.address(), Started: s.started.Format(time.RFC3339),
		Order: s.choice.Order, Scheduler: s.choice.Scheduler, StragglerRule: s.choice.StragglerRule, Keep: s.choice.Kept(), KeepRuns: s.choice.KeepRuns,
		StandIn: s.opts.StandIn, Carry: s.choice.StandIn, Full: s.full.Load()}
	err := s.inspect(func() {
		h.Nodes = len(s.sessions)
		h.Jobs = s.engine.Unfinished()
		h.Limits = s.engine.Limits()
	})
	return h, err
}

// postStop answers before the coordinator ends.
func (s *Server) postStop(w http.ResponseWriter, r *http.Request) {
	force := r.URL.Query().Get("force") == "true"
	err := s.call(func() error {
		switch {
		case s.engine.Unfinished() == 0:
			s.giveBack()
		case !force:
			return job.UserError("", "jobs are not over", "cancel them, wait, or use --force; the jobs then continue with the next coordinator")
		}
		return nil
	})
	if err == nil {
		defer s.stop()
		s.keepAwake(nil) // nobody carries on
		err = errors.Join(leader.Of(s.home).Forget(), leader.Of(s.home).Stop())
	}
	answer(w, nothing{}, err)
}

// listJobs answers with all jobs, without their nodes, or with the one of the parameter id; and if brief is true, with what lists have of them
// (control.Listed). It does not wait for the loop, before which thousands of messages of workers may lie.
func (s *Server) listJobs(r *http.Request) (any, error) {
	listed := control.Listed{Jobs: control.Jobs{Jobs: []report.JobView{}}}
	asked := r.URL.Query()
	only, brief := job.ID(asked.Get("id")), asked.Get("brief") == "true"
	if closed(s.stopped) {
		return listed.Jobs, cmp.Or(s.failure, errStopped)
	}
	s.jobsMu.RLock()
	ls := s.inOrder()
	for id, at := range s.filed {
		if brief && only == "" {
			listed.Filed.IDs, listed.Filed.At = append(listed.Filed.IDs, id), append(listed.Filed.At, at.UnixNano())
		}
	}
	s.jobsMu.RUnlock()
	for _, l := range ls {
		if only != "" && l.run.ID != only {
			continue
		}
		if brief {
			listed.Jobs.Jobs = append(listed.Jobs.Jobs, s.told(l.brief(s.now(), asked.Get("running") == "true")))
			continue
		}
		v := s.view(l)
		if only == "" {
			v.Nodes = nil
		}
		listed.Jobs.Jobs = append(listed.Jobs.Jobs, v)
	}
	if brief {
		return listed, nil
	}
	return listed.Jobs, nil
}

func (s *Server) listHeld(*http.Request) (any, error) {
	var held control.Held
	err := s.inspect(func() { held.Allocs = moved(s.engine.Held(), s.ahead) })
	return held, err
}

func (s *Server) explain(r *http.Request) (any, error) {
	var e control.Explanation
	id := named(r)
	err := s.callFor(id, func() error {
		e.Lines = append(s.engine.Explain(s.now(), id), s.guardNote(id)...)
		return nil
	})
	return e, err
}

// callFor runs work for a job in the loop, if the coordinator has that job.
func (s *Server) callFor(id job.ID, work func() error) error {
	if s.lookup(id) == nil { // else the loop would wait while a journal is read
		return s.notInMemory(id)
	}
	return s.call(func() error {
		if s.jobs[id] == nil {
			return s.notInMemory(id)
		}
		return work()
	})
}

func unknownJob(id job.ID) error {
	return job.ArgumentError("", "no job "+string(id), "berth status lists the jobs there are")
}

// answer writes v, or err as control.Failure tells it.
func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err == nil {
		_ = json.NewEncoder(w).Encode(v) // a command that went away needs no answer
		return
	}
	status := http.StatusUnprocessableEntity
	if errors.Is(err, errStopped) {
		status = http.StatusServiceUnavailable // the command goes to the next one
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(control.Failure(err))
}
