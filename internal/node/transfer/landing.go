package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
	"berth/internal/core/mpack"
	"berth/internal/mapreduce"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/probe"
)

// landing has the files that an attempt has sent and not committed.
type landing struct {
	mu    sync.Mutex
	place files.Place     // a *files.Bag or a *mapreduce.Folder; nil: nothing was sent
	sent  map[string]bool // names of the files that arrived completely
}

// landing returns the landing of an attempt, which is created if it does not exist.
func (sv *served) landing(at job.Attempt) *landing {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	l := sv.landings[at]
	if l == nil {
		l = &landing{sent: make(map[string]bool)}
		sv.landings[at] = l
	}
	return l
}

// bag returns the files of an attempt of a bag.
func (s *Server) bag(sv *served, at job.Attempt) *files.Bag {
	b := &files.Bag{Site: s.site, At: at}
	b.Spec, b.Entry, _ = sv.Tasks.Of(sv.Spec, at.Task)
	if b.Spec.Bag.Collect {
		b.Collect = sv.collected
	}
	return b
}

// output receives one output of an attempt. If it does not arrive completely, nothing of it remains.
func (s *Server) output(r *request) (any, error) {
	sv, at := r.of, r.at
	name := r.URL.Query().Get("name")
	mode, err := strconv.ParseUint(r.URL.Query().Get("mode"), 8, 9)
	if err != nil {
		return nil, fmt.Errorf("output %q has no mode", name)
	}
	if sv.Spec.MapReduce != nil && name == files.Stderr {
		return s.arrive(r.Body, sv.openLog(at))
	}
	l := sv.landing(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sent, name)
	answer, err := s.arrive(r.Body, func() (disk.Incoming, error) { return s.receive(sv, l, at, name, mode&0o111 != 0) })
	if err != nil {
		return nil, err
	}
	l.sent[name] = true
	if b, ok := l.place.(*files.Bag); ok {
		answer.File = b.Number(name)
	}
	return answer, nil
}

// arrive receives a file, and returns its size and SHA-256 as the answer.
func (s *Server) arrive(body io.Reader, open func() (disk.Incoming, error)) (*Received, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, h), body)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		file.Drop()
		return nil, process.OutputError(file.Name(), err)
	}
	return &Received{Size: n, Sum: hex.EncodeToString(h.Sum(nil)), Clock: probe.Now()}, nil
}

// receive opens the hidden file for the output name. The caller holds the landing's lock.
func (s *Server) receive(sv *served, l *landing, at job.Attempt, name string, run bool) (disk.Incoming, error) {
	if sv.Spec.MapReduce == nil {
		if err := sv.admit(at, name); err != nil {
			return nil, err
		}
		if l.place == nil {
			l.place = s.bag(sv, at)
		}
		return l.place.(*files.Bag).Receive(name, run)
	}
	if l.place == nil {
		_, index := sv.index(at.Task)
		f, err := mapreduce.NewFolder(sv.Spec.MapReduce, at, index)
		if err != nil {
			return nil, err
		}
		l.place = f
	}
	return l.place.(*mapreduce.Folder).Receive(name)
}

// admit returns an error for a name that is not one of the job's declared outputs, or that leads out of the job's
// folder through a symbolic link.
func (sv *served) admit(at job.Attempt, name string) error {
	own, entry, _ := sv.Tasks.Of(sv.Spec, at.Task)
	switch {
	case name == files.Stdout || name == files.Stderr:
		return nil
	case path.Clean(name) != name || !job.Below(name):
		return process.Broken("the host sends %q, which is not a name below the job's folder", name)
	case !files.Leaves(own.Bag.OutputPatterns(entry, at.Task), name):
		return process.Broken("the host sends %s, and the job does not say that a task leaves it (--outputs)", name)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := sv.root.Lstat(dir); err != nil {
			continue // it will be created below an existing folder
		}
		if st, err := sv.root.Stat(dir); err != nil || !st.IsDir() {
			return process.Broken("%s cannot be put into place: %s is no folder within the job's folder", filepath.Join(sv.Spec.Dir, name), dir)
		}
	}
	return nil
}

// index returns the index of a task of a MapReduce job among its maps or reduces.
func (sv *served) index(task int) (job.TaskKind, int) {
	kind := sv.Spec.Kind.TaskKind(len(sv.Tasks.Splits), task)
	if kind == job.ReduceTask {
		task -= len(sv.Tasks.Splits)
	}
	return kind, task
}

// logFile is a log that is being received. It replaces the log that was sent before.
type logFile struct{ *renameio.PendingFile }

func (l logFile) Close() error { return l.CloseAtomicallyReplace() }
func (l logFile) Drop()        { _ = l.Cleanup() } // a hidden file that remains is removed with the run

// openLog returns a function that opens the log of an attempt of a MapReduce job. The log gets its final name when it
// is closed.
func (sv *served) openLog(at job.Attempt) func() (disk.Incoming, error) {
	kind, index := sv.index(at.Task)
	path := filepath.Join(sv.Logs, job.TaskName(kind, index)+"."+strconv.Itoa(at.N)+".stderr")
	return func() (disk.Incoming, error) {
		if err := os.MkdirAll(sv.Logs, 0o700); err != nil {
			return nil, err
		}
		file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
		return logFile{file}, err
	}
}

// commit commits the files that an attempt has sent. It returns an error if one of the files that the request names has
// not arrived.
func (s *Server) commit(r *request) (any, error) {
	sv, at := r.of, r.at
	var c Commit
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err == nil {
		err = mpack.Decode(text, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	l := sv.landing(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range c.Names {
		if !l.sent[name] {
			return nil, lost("output %s did not arrive", name)
		}
	}
	lease := c.Until.Sub(probe.Now())
	switch {
	case l.place == nil:
		return nil, lost("no output arrived")
	case lease <= 0:
		return nil, lost("the grant to commit has lapsed")
	}
	b, _ := l.place.(*files.Bag)
	for _, i := range c.Except {
		if b == nil || i < 0 || int(i) >= len(c.Names) {
			return nil, fmt.Errorf("there is no output %d to be left beside its place", i)
		}
		b.WithholdName(c.Names[i])
	}
	if err := l.place.Commit(r.Context(), lease); err != nil {
		return nil, err
	}
	var answer Committed
	if b != nil {
		answer.Beside = b.Beside()
	}
	sv.finish(at, l)
	return answer, nil
}

// drop removes the uncommitted files of an attempt.
func (s *Server) drop(r *request) (any, error) {
	l := r.of.landing(r.at)
	l.mu.Lock()
	defer l.mu.Unlock()
	r.of.finish(r.at, l)
	return struct{}{}, nil
}

// finish removes the uncommitted files of an attempt, and forgets the attempt. The caller holds the landing's lock.
func (sv *served) finish(at job.Attempt, l *landing) {
	if l.place != nil {
		l.place.Abort()
	}
	l.place = nil
	clear(l.sent)
	sv.mu.Lock()
	delete(sv.landings, at)
	sv.mu.Unlock()
}

// dropOthers removes the uncommitted files of the task's other attempts. They have ended, or their output is no longer
// needed.
func (s *Server) dropOthers(r *request) (any, error) {
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || last > r.at.N+files.Ahead || r.of.Spec.Bag == nil {
		return nil, fmt.Errorf("%q is not a number of an attempt", r.URL.Query().Get("last"))
	}
	s.bag(r.of, r.at).DropOthers(last)
	return struct{}{}, nil
}
