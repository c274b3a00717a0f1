package transfer

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/mpack"
	"berth/internal/node/collect"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/statedir"
)

// Job is a job whose files a host may request.
type Job struct {
	Spec  *job.Spec
	Tasks statedir.Tasks
	Logs  string // folder of the logs of a MapReduce job's tasks
}

// Jobs finds the jobs of a host's allocation. It returns an error for any other job, and for a job that is over.
type Jobs interface {
	Open(id job.ID) (*Job, error) // reads the job with its task table; called once for each job
	Check(id job.ID) error        // called with every request
}

// Server serves one host.
type Server struct {
	jobs Jobs
	site files.Site // its Parts has notes on uncommitted files, which the next process removes
	log  *slog.Logger
	mux  *http.ServeMux

	mu     sync.Mutex
	served map[job.ID]*served
}

// served is the server's state of one job.
type served struct {
	*Job
	root    *os.Root // the job's folder; / for a MapReduce job, which may ship files from anywhere
	digests *digests

	collected *collect.Writer // receives what tasks print; nil: each task has files of its own

	mu       sync.Mutex
	landings map[job.Attempt]*landing
}

// NewServer returns a server. notes is a folder of the host's for notes on uncommitted files; the files that an earlier
// server noted there are removed.
func NewServer(jobs Jobs, notes string, log *slog.Logger) *Server {
	s := &Server{jobs: jobs, site: files.Site{Parts: files.Parts{Root: notes}, Durable: files.NewDurable()},
		log: log, mux: http.NewServeMux(), served: make(map[job.ID]*served)}
	s.site.Parts.Clear()
	s.handle("GET /jobs/{job}/tasks/{task}/needs", s.needs)
	s.handle("GET /jobs/{job}/contents/{sum}", s.content)
	s.handle("GET /jobs/{job}/tasks/{task}/ranges/{range}", s.split)
	s.handle("PUT /jobs/{job}/tasks/{task}/attempts/{attempt}/outputs", s.output)
	s.handle("POST /jobs/{job}/tasks/{task}/attempts/{attempt}/commit", s.commit)
	s.handle("DELETE /jobs/{job}/tasks/{task}/attempts/{attempt}", s.drop)
	s.handle("DELETE /jobs/{job}/tasks/{task}/attempts/{attempt}/others", s.dropOthers)
	s.handle("POST /sync", s.sync)
	return s
}

// ServeHTTP answers a request of the host.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// request is a request of the host, with what it is about as far as its path says so.
type request struct {
	*http.Request
	w  http.ResponseWriter
	of *served     // the job; nil: it is about none
	at job.Attempt // the attempt, or only its task, or only its job
}

// handle registers f for the requests of a pattern. f returns nil if it has written the answer itself.
func (s *Server) handle(pattern string, f func(*request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		q := &request{Request: r, w: w}
		err := s.identify(q)
		var answer any
		if err == nil {
			answer, err = f(q)
		}
		if err != nil {
			s.log.Warn("the host was refused", "what", r.Method+" "+r.URL.Path, "err", err)
			w.WriteHeader(http.StatusConflict)
			answer = process.FailureOf(err)
		}
		if answer != nil {
			text, _ := mpack.Append(nil, answer) // all answers can be encoded
			_, _ = w.Write(text)                 // the host may have closed the connection
		}
	})
}

// Close removes the uncommitted files of all attempts.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sv := range s.served {
		sv.mu.Lock()
		for at, l := range sv.landings {
			if l.place != nil {
				l.place.Abort()
			}
			delete(sv.landings, at)
		}
		sv.mu.Unlock()
		if sv.collected != nil {
			if err := sv.collected.Close(); err != nil {
				s.log.Warn("the file of collected output was not closed well", "job", sv.Spec.ID, "err", err)
			}
		}
		_ = sv.root.Close()
	}
	clear(s.served)
}

// identify finds out what a request is about.
func (s *Server) identify(r *request) (err error) {
	name, task, n := r.PathValue("job"), r.PathValue("task"), r.PathValue("attempt")
	if name == "" {
		return nil
	}
	if r.of, err = s.job(name); err != nil {
		return err
	}
	r.at.Job = r.of.Spec.ID
	if task != "" {
		if r.at.Task, err = strconv.Atoi(task); err != nil || r.at.Task < 0 || !r.of.has(r.at.Task) {
			return fmt.Errorf("%s has no task %q", r.at.Job, task)
		}
	}
	if n != "" {
		if r.at.N, err = strconv.Atoi(n); err != nil || r.at.N < 1 || r.at.N > maxAttempt {
			return fmt.Errorf("%q is no attempt's number", n)
		}
	}
	return nil
}

// job returns the job with that name.
func (s *Server) job(name string) (*served, error) {
	id, err := job.ParseID("job", name)
	if err != nil {
		return nil, err
	}
	if err := s.jobs.Check(id); err != nil {
		return nil, lost("%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sv := s.served[id]; sv != nil {
		return sv, nil
	}
	j, err := s.jobs.Open(id)
	if err != nil {
		return nil, err
	}
	dir := j.Spec.Dir
	if j.Spec.Bag == nil {
		dir = "/"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, process.Broken("the job's folder %s cannot be opened: %v", j.Spec.Dir, err)
	}
	sv := &served{Job: j, root: root, digests: newDigests(root), landings: make(map[job.Attempt]*landing)}
	if j.Spec.Bag != nil && j.Spec.Bag.Collect {
		folder := j.Spec.Bag.CollectFolder(id)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		sv.collected = collect.NewWriter(folder)
	}
	s.served[id] = sv
	return sv, nil
}

// has reports whether the job has a task with that index.
func (sv *served) has(task int) bool {
	if sv.Spec.MapReduce != nil {
		return task < len(sv.Tasks.Splits)+sv.Spec.MapReduce.Reduces
	}
	_, _, ok := sv.Tasks.Of(sv.Spec, task)
	return ok
}

// maxAttempt is more than the number of any task's last attempt, as a task has at most 32,767 retries. What is
// done for each earlier attempt must end soon, whatever number a host sends.
const maxAttempt = 1 << 17

// needs answers with the list of files that a task needs.
func (s *Server) needs(r *request) (any, error) {
	sv := r.of
	if sv.Spec.MapReduce != nil {
		return sv.shipped()
	}
	c := &collector{dir: sv.Spec.Dir, root: sv.root, digest: sv.digests.name}
	own, entry, _ := sv.Tasks.Of(sv.Spec, r.at.Task)
	return c.needs(own.Bag, entry, r.at.Task)
}

// content answers with a content that a task of the job needs, or with a range of it.
func (s *Server) content(r *request) (any, error) {
	f, st, err := r.of.digests.open(r.PathValue("sum"))
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read
	r.w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(r.w, r.Request, "", st.ModTime(), f)
	return nil, nil
}

// sync answers when all committed files are on the disk.
func (s *Server) sync(*request) (any, error) {
	return struct{}{}, s.site.Durable.Sync()
}

func lost(format string, args ...any) error {
	return &process.Failure{Outcome: event.Lost, Reason: fmt.Sprintf(format, args...)}
}
