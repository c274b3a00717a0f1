package coordinator

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/step"
	"berth/internal/server/control"
	"berth/internal/server/rundir"
)

// task returns the entry of a bag's task, and the values of its own that it may have besides.
func (l *live) task(i int) (job.Entry, *task.Spec) {
	s, _ := l.Tasks.Task(l.Spec.Bag, i)
	if s.Plain() {
		return s.Entry, nil
	}
	return nil, &s
}

// addTasks adds tasks to an open bag.
func (s *Server) addTasks(r *http.Request, req control.Add) (any, error) {
	l, err := s.openBag(named(r))
	if err != nil {
		return nil, err
	}
	return s.addTo(r.Context(), l, req)
}

// addTo adds tasks to an open bag. Calls are handled one after the other.
func (s *Server) addTo(ctx context.Context, l *live, req control.Add) (control.Added, error) {
	l.adding.Lock()
	defer l.adding.Unlock()
	before := l.Tasks.Entries.Len()
	if first, n, known := l.Tasks.More.Call(req.Key); known {
		return control.Added{First: before + first, Tasks: n}, nil
	}
	n, err := l.Tasks.More.Len()
	if err != nil {
		return control.Added{}, err
	}
	specs, r, err := s.toRecord(ctx, l, req, before+n)
	if err == nil && len(specs) > 0 {
		err = s.recordAdded(l, req.Key, specs, r)
	}
	return control.Added{First: before + n, Tasks: len(specs)}, err
}

// first returns the record of the tasks that an open bag is submitted with, and has written them to disk. If the bag is refused its
// command removes its folder.
func (s *Server) first(ctx context.Context, l *live, req *control.Add, w *job.Work) (r event.TasksAdded, err error) {
	if req == nil {
		return r, nil
	}
	if l.Tasks.More == nil {
		return r, notOpen(l.Spec.ID)
	}
	specs, r, err := s.toRecord(ctx, l, *req, 0)
	if err != nil || len(specs) == 0 {
		return r, err
	}
	for _, n := range r.Further { // so that the loop does not refuse them once the bag is recorded
		if err := step.CheckNeeds(w, n); err != nil {
			return r, err
		}
	}
	if err := s.spacious(l.run.Dir, r); err != nil {
		return r, err
	}
	if err := l.Tasks.More.Cut(0); err != nil { // a coordinator may have died before it recorded the bag
		return r, err
	}
	return r, l.Tasks.More.Append(req.Key, specs)
}

// toRecord returns the tasks of a request and the record of them. The first of them has the index first.
func (s *Server) toRecord(ctx context.Context, l *live, req control.Add, first int) ([]task.Spec, event.TasksAdded, error) {
	specs, after, err := l.toAdd(req, first)
	if err != nil || len(specs) == 0 {
		return nil, event.TasksAdded{}, err
	}
	needs, err := s.needs(ctx, l, len(specs), func(i int) (job.Needs, string, error) { return l.needsOf(&specs[i]), specs[i].At(req.From), nil })
	return specs, event.TasksAdded{Job: l.Spec.ID, N: len(specs), After: after, Further: needs.Further, Which: needs.Runs(), Shares: l.share(specs)}, err
}

// share reports whether other jobs may write files of the same names as these tasks.
func (l *live) share(specs []task.Spec) bool {
	return l.Spec.Bag.Shares() || slices.ContainsFunc(specs, func(t task.Spec) bool {
		if t.Stdout == "" && t.Stderr == "" && t.Outputs == nil {
			return false
		}
		own, _ := t.Apply(l.Spec)
		return own.Bag.Shares()
	})
}

// needsOf returns what a task needs that is not as for the bag. If its memory is chosen, the size of its input counts.
func (l *live) needsOf(t *task.Spec) job.Needs {
	n := t.Needs
	if l.Spec.Bag.AutoMem && n.Mem == 0 {
		dir := l.Spec.Dir
		if t.Dir != "" {
			dir = filepath.Join(dir, t.Dir)
		}
		if filepath.IsAbs(t.Dir) {
			dir = t.Dir
		}
		n.Size = rundir.InputSize(dir, append(slices.Clone(t.Command), t.Entry...), nil)
	}
	return n
}

// toAdd returns the tasks of a request, and which of them come after which others. The first of them has the index first.
func (l *live) toAdd(req control.Add, first int) ([]task.Spec, []event.Comes, error) {
	specs, err := parseTasks(req)
	if err == nil {
		err = l.check(req.From, specs)
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := l.order(req.From, specs, first)
	return specs, after, err
}

// recordAdded puts tasks on disk and then has the loop record them, so a coordinator that follows this one knows what the
// record means.
func (s *Server) recordAdded(l *live, key string, specs []task.Spec, r event.TasksAdded) error {
	if err := s.spaciousFor(l, r); err != nil {
		return err
	}
	more := l.Tasks.More
	n, err := more.Len()
	if err == nil {
		err = more.Append(key, specs)
	}
	if err != nil {
		return err
	}
	refused := false
	err = s.call(func() error {
		err := s.grow(l, r)
		refused = err != nil
		return err
	})
	if refused {
		if err := more.Cut(n); err != nil {
			s.log.Error("tasks that a bag has refused stay in its folder", "job", l.Spec.ID, "err", err)
		}
	}
	return err
}

// grow has the engine take on tasks of an open bag that are on disk. It runs in the loop.
func (s *Server) grow(l *live, r event.TasksAdded) error {
	err := s.step(step.Add{TasksAdded: r})
	if err == nil {
		l.added += r.N
		s.limitGarbage()
	}
	return err
}

// spaciousFor returns an error if there is no room for further tasks of an open bag. To ask writes a file, which takes longer than to add a
// task. So once there was spareRoom the records of further tasks may use half of it.
func (s *Server) spaciousFor(l *live, r event.Record) error {
	n, err := recordable(r)
	if err != nil {
		return err
	}
	if l.spare -= n; l.spare >= 0 && !s.full.Load() {
		return nil
	}
	l.spare = 0
	if err := s.spacious(l.run.Dir, r); err != nil {
		return err
	}
	l.spare = spareRoom / 2
	return nil
}

// openBag returns a job that is an open bag in memory.
func (s *Server) openBag(id job.ID) (*live, error) {
	l := s.lookup(id)
	if l == nil {
		return nil, s.notInMemory(id)
	}
	if l.Tasks.More == nil {
		return nil, notOpen(id)
	}
	return l, nil
}

func notOpen(id job.ID) error {
	return job.ArgumentError(string(id), "the job is not an open bag", "submit one with: berth bag --open")
}

// parseTasks reads the tasks of a request, each as the line that it was or would have been.
func parseTasks(req control.Add) ([]task.Spec, error) {
	if len(req.Entries) > 0 {
		return entryTasks(req), nil
	}
	for i, t := range req.Tasks {
		if string(t) == "null" { // an empty line
			req.Tasks[i] = nil
		}
	}
	return task.Parse(req.From, req.Tasks)
}

// entryTasks returns the tasks that run the command of the bag for entries.
func entryTasks(req control.Add) []task.Spec {
	specs := make([]task.Spec, len(req.Entries))
	for i, words := range req.Entries {
		specs[i].Line = i + 1
		if i < len(req.Needs) {
			specs[i].Needs = req.Needs[i]
		}
		specs[i].Entry = make(job.Entry, len(words))
		for k, w := range words {
			specs[i].Entry[k] = string(w)
		}
	}
	return specs
}

// check returns an error for a task that needs what the bag cannot give it.
func (l *live) check(from string, specs []task.Spec) error {
	on := &l.Spec.Request.Remote
	for i := range specs {
		if err := specs[i].CheckIn(from, len(on.Hosts) > 0 || len(on.Rent.Machines) > 0); err != nil {
			return err
		}
	}
	return nil
}

// order returns which of the tasks come after which others of the bag. The first of them has the index first.
func (l *live) order(from string, specs []task.Spec, first int) ([]event.Comes, error) {
	before := l.Tasks.Entries.Len()
	after, err := task.Order(from, specs, first, func(name string) (int, bool) {
		i, ok := l.Tasks.More.Named(name)
		return before + i, ok
	})
	if err != nil {
		return nil, err
	}
	var all []event.Comes
	for i, of := range after {
		if len(of) > 0 {
			all = append(all, event.Comes{Task: int32(first + i), After: of})
		}
	}
	return all, nil
}

// closeBag says that no more tasks come.
func (s *Server) closeBag(r *http.Request) (any, error) {
	return nothing{}, s.callFor(named(r), func(id job.ID) error { return s.step(step.Close{Job: id}) })
}
