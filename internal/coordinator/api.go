package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"reflect"
	"time"

	"berth/internal/control"
	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/report"
)

// watchEvery is how often one who watches a job is told how it is.
const watchEvery = 150 * time.Millisecond

// handler serves the control interface.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/server", s.getServer)
	mux.HandleFunc("POST /v1/server/stop", s.postStop)
	mux.HandleFunc("POST /v1/jobs", s.postJob)
	mux.HandleFunc("GET /v1/jobs", s.getJobs)
	mux.HandleFunc("GET /v1/idle", s.getIdle)
	mux.HandleFunc("GET /v1/jobs/{id}/watch", s.watchJob)
	mux.HandleFunc("GET /v1/jobs/{id}/explain", s.explainJob)
	mux.HandleFunc("POST /v1/jobs/{id}/cancel", s.cancelJob)
	mux.HandleFunc("POST /v1/jobs/{id}/resume", s.resumeJob)
	mux.HandleFunc("POST /v1/jobs/{id}/forget", s.forgetJob)
	return mux
}

func (s *Server) getServer(w http.ResponseWriter, _ *http.Request) {
	h := control.Hello{Version: control.Version, PID: os.Getpid(), Address: s.address, Started: s.started.Format(time.RFC3339),
		Order: string(s.policy.order), Keep: s.policy.keep, KeepRuns: s.policy.runs,
		StandIn: s.opts.StandIn, Carry: s.policy.standIn}
	err := s.call(func() error {
		h.Nodes = len(s.sessions)
		h.Jobs = s.engine.Unfinished()
		return nil
	})
	answer(w, h, err)
}

func (s *Server) postStop(w http.ResponseWriter, r *http.Request) {
	force := r.URL.Query().Get("force") == "true"
	err := s.call(func() error {
		if s.engine.Unfinished() == 0 {
			s.giveBack()
			return nil
		}
		if !force {
			return &job.Error{Class: job.User, What: "jobs are not over", Do: "cancel them, wait, or use --force: they go on with the next coordinator"}
		}
		return nil
	})
	if err == nil {
		defer s.stop()
		err = errors.Join(s.home.Forget(), s.standDown())
	}
	answer(w, struct{}{}, err)
}

func (s *Server) postJob(w http.ResponseWriter, r *http.Request) {
	var req control.Submit
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		answer(w, nil, badRequest(err))
		return
	}
	answer(w, struct{}{}, s.submit(req.ID, req.Env...))
}

// submit takes on a run whose folder a command has written.
func (s *Server) submit(id job.ID, env ...string) error {
	if s.lookup(id) != nil {
		return nil // the command asks again, as the coordinator before died before it could answer
	}
	if _, over := archived(s.home.Run(id)); over {
		return nil // so it does, and the job has ended meanwhile
	}
	if _, err := os.Stat(s.home.JournalOf(id)); err == nil && !s.journals.Has(id) { // to append to it would end the loop
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: s.home.JournalOf(id), What: "the job was handed in before, and its journal could not be read since",
			Do: "the log says why: " + s.home.ServerLog()}
	}
	l, err := s.load(id)
	if err != nil {
		return err
	}
	if err := s.reachable(l.Plan.Alloc.On); err != nil {
		return err
	}
	if err := s.enter(l.Plan.Alloc, env); err != nil {
		return err
	}
	return s.call(func() error { return s.takeOn(l, plan.Work(l.Spec, l.Plan)) })
}

// takeOn puts a new job into the engine. It runs in the loop.
func (s *Server) takeOn(l *live, work job.Work) error {
	id := l.Spec.ID
	if s.jobs[id] != nil {
		return nil
	}
	if _, err := (event.Entry{Record: event.JobSubmitted{Work: work}}).Marshal(); err != nil {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: string(id), What: "the job cannot be recorded", Err: err}
	}
	s.keep(l)
	if err := s.step(engine.Submit{Work: work}); err != nil {
		s.drop(id)
		return err
	}
	return nil
}

func (s *Server) getJobs(w http.ResponseWriter, _ *http.Request) {
	jobs := control.Jobs{Jobs: []report.JobView{}}
	var ls []*live
	err := s.call(func() error {
		ls = s.inOrder()
		return nil
	})
	for _, l := range ls {
		jobs.Jobs = append(jobs.Jobs, l.view(s.now()))
	}
	answer(w, jobs, err)
}

func (s *Server) getIdle(w http.ResponseWriter, _ *http.Request) {
	var idle control.Idle
	err := s.call(func() error {
		idle.Allocs = s.byWall(s.engine.Idle())
		return nil
	})
	answer(w, idle, err)
}

func (s *Server) cancelJob(w http.ResponseWriter, r *http.Request) {
	var req control.Cancel
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		answer(w, nil, badRequest(err))
		return
	}
	id := job.ID(r.PathValue("id"))
	answer(w, struct{}{}, s.call(func() error {
		if s.jobs[id] == nil {
			return s.notHere(id)
		}
		return s.step(engine.Cancel{Job: id, Reason: req.Reason})
	}))
}

func (s *Server) forgetJob(w http.ResponseWriter, r *http.Request) {
	answer(w, struct{}{}, s.forgetRun(r.Context(), job.ID(r.PathValue("id"))))
}

func (s *Server) resumeJob(w http.ResponseWriter, r *http.Request) {
	var req control.Resume
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		answer(w, nil, badRequest(err))
		return
	}
	answer(w, struct{}{}, s.resume(r.Context(), job.ID(r.PathValue("id")), req))
}

// resume lets a job that is over go on, by the plan that its command has written.
func (s *Server) resume(ctx context.Context, id job.ID, req control.Resume) error {
	if err := s.awaitFiled(ctx, id); err != nil {
		return err
	}
	fresh, err := s.reopen(s.home.Run(id))
	if err != nil {
		return err
	}
	terms, p := fresh.Spec.Terms(), fresh.Plan
	if err := s.enter(p.Alloc, req.Env); err != nil {
		return err
	}
	return s.call(func() error {
		l, err := s.recall(fresh)
		if err != nil {
			return err
		}
		before := l.assign(fresh.assignment) // it may have been changed for this resume
		s.untell(id)
		if err := s.step(engine.Resume{JobResumed: event.JobResumed{Job: id, Failed: req.Failed, Terms: &terms, Alloc: p.Alloc, Course: p.Course}}); err != nil {
			l.assign(before)
			return err
		}
		// The summary goes before the record is written: a coordinator that finds one takes the job for over.
		if err := os.Remove(l.run.Summary()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// awaitFiled waits until all that stays of a job which is over is written: nothing of the
// run that ended may be written once the next one has begun.
func (s *Server) awaitFiled(ctx context.Context, id job.ID) error {
	l := s.lookup(id)
	if l == nil || !event.State(l.view(s.now()).State).Final() {
		return nil
	}
	_, archived := l.ends()
	select {
	case <-archived:
		return nil
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(archivePatience):
		return &job.Error{Class: job.User, Code: job.CodeIO, Where: string(id),
			What: "the end of its last run is not written yet, as a file system does not answer or nobody reads a pipe",
			Do:   "try again when its job log and its output can be written"}
	}
}

func (s *Server) explainJob(w http.ResponseWriter, r *http.Request) {
	var e control.Explanation
	id := job.ID(r.PathValue("id"))
	err := s.call(func() error {
		if s.jobs[id] == nil {
			return s.notHere(id)
		}
		e.Reasons, e.Lines = s.engine.Explain(s.now(), id), s.guardNote(id)
		return nil
	})
	answer(w, e, err)
}

// watchJob streams the job, a line of JSON whenever it changed, until it is over.
func (s *Server) watchJob(w http.ResponseWriter, r *http.Request) {
	id := job.ID(r.PathValue("id"))
	l := s.lookup(id)
	if l == nil {
		answer(w, nil, s.notHere(id))
		return
	}
	s.watchers.Add(1)
	defer s.watchers.Add(-1)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	watch := watch{enc: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}
	over, _ := l.ends()
	for {
		final := closed(over)
		if watch.tell(l.view(s.now()), final) != nil || final {
			return // it is over, or nobody listens any more
		}
		select {
		case <-tick.C:
		case <-over:
		case <-r.Context().Done():
			return
		case <-s.stopped:
			if s.failure != nil {
				watch.fail(s.failure)
			}
			return
		}
	}
}

// watch is one who watches a job.
type watch struct {
	enc   *json.Encoder
	flush func() error
	last  report.JobView // that was told
}

// tell tells how the job is, unless that is known. What is final is told in any case.
func (w *watch) tell(v report.JobView, final bool) error {
	if !final && reflect.DeepEqual(v, w.last) {
		return nil
	}
	w.last = v
	if err := w.enc.Encode(control.Watched{View: v, Final: final}); err != nil {
		return err
	}
	return w.flush()
}

// fail tells why the coordinator cannot go on.
func (w *watch) fail(err error) {
	_ = w.enc.Encode(control.Watched{View: w.last, Error: control.Failure(err)}) // the command may be gone, too
}

// closed reports whether a channel is, on which nothing is sent.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func unknownJob(id job.ID) error {
	return &job.Error{Class: job.User, Code: job.CodeArguments, What: "no job " + string(id), Do: "berth status lists the jobs there are"}
}

func badRequest(err error) error {
	return &job.Error{Class: job.Fatal, What: "the request cannot be read", Err: err}
}

// answer writes v, or err as a control.Error.
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
