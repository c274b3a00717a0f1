package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/node/collect"
	"berth/internal/node/process"
)

// landing is what an attempt has sent and not put into place yet.
type landing struct {
	mu     sync.Mutex
	sent   map[string]*process.Output // by name, whole ones only
	folder *process.Folder            // for files below the job's folder; nil: none was sent
	parts  map[string]bool            // of a MapReduce job: names of files that were sent, whole ones only
}

// landing returns that of an attempt.
func (sv *served) landing(at job.Attempt) *landing {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	l := sv.landings[at]
	if l == nil {
		l = &landing{sent: make(map[string]*process.Output), parts: make(map[string]bool)}
		sv.landings[at] = l
	}
	return l
}

// output takes what an attempt sends of one output. Nothing of it stays where it does not arrive whole.
func (s *Server) output(_ http.ResponseWriter, r *http.Request) (any, error) {
	sv, at, err := s.attempt(r)
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("name")
	mode, err := strconv.ParseUint(r.URL.Query().Get("mode"), 8, 9)
	if err != nil {
		return nil, fmt.Errorf("output %q has no mode", name)
	}
	l := sv.landing(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	if sv.spec.MapReduce != nil {
		return s.part(sv, l, at, name, r.Body)
	}
	out, err := s.place(sv, l, at, name)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, h), r.Body)
	if err == nil && name != Stdout && name != Stderr && mode&0o111 != 0 {
		err = out.MakeExecutable()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		out.Drop()
		return nil, process.OutputError(out.Path(), err)
	}
	l.sent[name] = out
	return Received{Size: n, Sum: hex.EncodeToString(h.Sum(nil)), Clock: s.clock.now()}, nil
}

// place opens the hidden file for an output of that name: only what the job says that its tasks leave has one.
func (s *Server) place(sv *served, l *landing, at job.Attempt, name string) (*process.Output, error) {
	delete(l.sent, name)
	bag := sv.spec.Bag
	switch name {
	case Stdout:
		return openOutput(outputPath(sv, bag.Stdout, at.Task), at)
	case Stderr:
		return openOutput(outputPath(sv, bag.Stderr, at.Task), at)
	}
	if path.Clean(name) != name || !job.Below(name) {
		return nil, process.Broken("the host sends %q, which is not a name below the job's folder", name)
	}
	if !process.Leaves(bag.OutputPatterns(sv.entries[at.Task], at.Task), name) {
		return nil, process.Broken("the host sends %s, and the job does not say that a task leaves it (--outputs)", name)
	}
	if err := s.within(sv, name); err != nil {
		return nil, err
	}
	if l.folder == nil {
		if err := s.parts.Note(at, process.FolderName(sv.spec.Dir, at)); err != nil {
			return nil, process.ScratchFailure(s.parts.Root, err)
		}
		var err error
		if l.folder, err = process.ReceiveFolder(sv.spec.Dir, at); err != nil {
			return nil, err
		}
	}
	return l.folder.Receive(name)
}

// within refuses a name that leads out of the job's folder through a symbolic link.
func (s *Server) within(sv *served, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := sv.root.Lstat(dir); err != nil {
			continue // it is made below one that is there
		}
		if st, err := sv.root.Stat(dir); err != nil || !st.IsDir() {
			return process.Broken("%s cannot be put into place: %s is no folder within the job's folder", filepath.Join(sv.spec.Dir, name), dir)
		}
	}
	return nil
}

func openOutput(path string, at job.Attempt) (*process.Output, error) {
	out, err := process.OpenOutput(path, at)
	if err == nil && out.Path() == "" {
		_ = out.Close() // nothing was written
		err = process.Broken("the host sends what goes to the device %s, which is its own", path)
	}
	return &out, err
}

// commit puts into place what an attempt has sent: files in the order of their names' list. All of them have to be there.
func (s *Server) commit(_ http.ResponseWriter, r *http.Request) (any, error) {
	sv, at, err := s.attempt(r)
	if err != nil {
		return nil, err
	}
	var c Commit
	if err := json.NewDecoder(io.LimitReader(r.Body, maxAnswer)).Decode(&c); err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	for i, n := range c.Names {
		if c.Names[i], err = url.PathUnescape(n); err != nil {
			return nil, fmt.Errorf("commit: %w", err)
		}
	}
	l := sv.landing(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range c.Names {
		if l.sent[name] == nil && !l.parts[name] {
			return nil, lost("output %s did not arrive", name)
		}
	}
	if s.clock.now() >= c.Until {
		return nil, lost("%v", errLapsed)
	}
	if sv.spec.MapReduce != nil {
		if err := mapreduce.CommitLeft(sv.spec.MapReduce, at, c.Names); err != nil {
			return nil, err
		}
		c.Names = nil
	}
	for _, name := range c.Names {
		if sv.collected != nil && (name == Stdout || name == Stderr) {
			continue
		}
		if err := s.commitOne(l, name); err != nil {
			return nil, err
		}
		delete(l.sent, name)
	}
	if sv.collected != nil {
		if err := s.collect(sv, at, l); err != nil {
			return nil, err
		}
	}
	s.finish(sv, at, l)
	return struct{}{}, nil
}

// commitOne puts one output into place.
func (s *Server) commitOne(l *landing, name string) error {
	if name != Stdout && name != Stderr {
		return l.folder.Commit([]string{name}, s.durable)
	}
	if err := l.sent[name].Commit(); err != nil {
		return err
	}
	s.durable.Note(l.sent[name])
	return nil
}

// collect adds what a task printed to the file of its job. The files in which it arrived are removed with the landing.
func (s *Server) collect(sv *served, at job.Attempt, l *landing) error {
	var outputs [2]*io.SectionReader
	for stream, name := range [...]string{collect.Stdout: Stdout, collect.Stderr: Stderr} {
		out := l.sent[name]
		if out == nil {
			continue // it is discarded
		}
		f, err := os.Open(out.Part)
		if err != nil {
			return process.OutputError(out.Path(), err)
		}
		defer func() { _ = f.Close() }() // only read
		outputs[stream] = io.NewSectionReader(f, 0, out.Bytes)
	}
	path, err := sv.collected.Add(at, outputs)
	if err != nil {
		return process.OutputError(path, err)
	}
	s.durable.NoteShared(path)
	return nil
}

// drop removes what an attempt has sent and not put into place.
func (s *Server) drop(_ http.ResponseWriter, r *http.Request) (any, error) {
	sv, at, err := s.attempt(r)
	if err != nil {
		return nil, err
	}
	l := sv.landing(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.finish(sv, at, l)
	return struct{}{}, nil
}

// finish forgets an attempt. The landing's lock is held.
func (s *Server) finish(sv *served, at job.Attempt, l *landing) {
	s.abandon(sv, at, l)
	sv.mu.Lock()
	delete(sv.landings, at)
	sv.mu.Unlock()
}

// abandon removes what is not in place.
func (s *Server) abandon(sv *served, at job.Attempt, l *landing) {
	if sv.spec.MapReduce != nil {
		if err := mapreduce.DropLeft(sv.spec.MapReduce, at); err != nil {
			s.log.Warn("what an attempt left stays until its job is over", "attempt", at, "err", err)
		}
		return
	}
	for _, out := range l.sent {
		out.Drop()
	}
	clear(l.sent)
	if l.folder != nil {
		l.folder.Drop()
		s.parts.Forget(at)
		l.folder = nil
	}
}

// dropOthers removes what other attempts of the task have not put into place. None of them lives, or none is wanted any more.
func (s *Server) dropOthers(_ http.ResponseWriter, r *http.Request) (any, error) {
	sv, at, err := s.attempt(r)
	if err != nil {
		return nil, err
	}
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || last > at.N+process.Ahead || sv.spec.Bag == nil {
		return nil, fmt.Errorf("%q is not a number of an attempt", r.URL.Query().Get("last"))
	}
	process.DropParts(outputPath(sv, sv.spec.Bag.Stdout, at.Task), at, last)
	process.DropParts(outputPath(sv, sv.spec.Bag.Stderr, at.Task), at, last)
	process.DropOtherFolders(sv.spec.Dir, at, last)
	return struct{}{}, nil
}
