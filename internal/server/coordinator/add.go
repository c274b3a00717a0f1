package coordinator

import (
	"context"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/core/step"
	"berth/internal/server/control"
	"berth/internal/server/rundir"
)

// addTasks adds tasks to an open bag.
func (s *Server) addTasks(ctx context.Context, id job.ID, req control.Add) (any, error) {
	l := s.lookup(id)
	if l == nil {
		return nil, s.notInMemory(id)
	}
	return s.takeOn(ctx, l, control.Submit{First: &req}, nil)
}

// takeOn has the loop take on a job, tasks of an open bag, or both together, and that no more tasks come. The job is in memory already if work is nil.
// Calls for the same job are handled one after the other. If a bag is refused with its first tasks its command removes its folder.
func (s *Server) takeOn(ctx context.Context, l *live, req control.Submit, work *job.Work) (added control.Added, err error) {
	l.adding.Lock()
	defer l.adding.Unlock()
	var r event.TasksAdded
	if req.First != nil {
		if added, r, err = s.putTasks(ctx, l, *req.First, work); err != nil {
			return added, err
		}
	}
	if work == nil && r.N == 0 && !req.Close {
		return added, nil
	}
	refused := false
	err = s.call(func() (err error) {
		if work != nil {
			err = s.acceptJob(l, *work)
		}
		if err == nil && r.N > 0 {
			if err = s.step(step.Add{TasksAdded: r}); err == nil {
				l.added += r.N
				s.limitGarbage()
			}
		}
		if refused = err != nil; !refused && req.Close && s.jobs[l.run.ID] != nil { // else it has ended meanwhile
			err = s.step(step.Close{Job: l.run.ID})
		}
		return err
	})
	if refused && r.N > 0 {
		if err := l.Tasks.More.Cut(added.First - l.Tasks.Entries.Len()); err != nil {
			s.log.Error("tasks that a bag has refused stay in its folder", "job", l.run.ID, "err", err)
		}
	}
	return added, err
}

// putTasks puts the tasks of a request on disk, behind the others that were added before, so that a coordinator that follows this one knows what
// the record of them means. It returns that record, of no tasks if there are none, or an earlier call has added them. work is that of a bag that is not
// recorded yet.
func (s *Server) putTasks(ctx context.Context, l *live, req control.Add, work *job.Work) (added control.Added, r event.TasksAdded, err error) {
	more, before := l.Tasks.More, l.Tasks.Entries.Len()
	if more == nil {
		return added, r, job.ArgumentError(string(l.run.ID), "the job is not an open bag", "submit one with: berth bag --open")
	}
	if work != nil { // a coordinator may have died before it recorded the bag
		err = more.Cut(0)
	}
	if first, n, known := more.Call(req.Key); err == nil && known {
		return control.Added{First: before + first, Tasks: n}, r, nil
	}
	n := 0
	if err == nil {
		n, err = more.Len()
	}
	if err != nil {
		return added, r, err
	}
	specs, r, err := s.toRecord(ctx, l, req, before+n)
	added = control.Added{First: before + n, Tasks: len(specs)}
	if err != nil || len(specs) == 0 {
		return added, r, err
	}
	if work != nil { // so that the loop does not refuse them once the bag is recorded
		for _, n := range r.Further {
			if err := step.CheckNeeds(work, n); err != nil {
				return added, r, err
			}
		}
	}
	if err = s.spacious(l, r); err == nil {
		err = more.Append(req.Key, specs)
	}
	return added, r, err
}

// toRecord returns the tasks of a request and the record of them. The first of them has the index first.
func (s *Server) toRecord(ctx context.Context, l *live, req control.Add, first int) (specs []task.Spec, r event.TasksAdded, err error) {
	if specs, err = parseTasks(req); err != nil || len(specs) == 0 {
		return nil, r, err
	}
	for i := range specs {
		if err := specs[i].CheckIn(req.From, l.Spec); err != nil {
			return nil, r, err
		}
	}
	after, err := l.order(req.From, specs, first)
	if err != nil {
		return nil, r, err
	}
	needs, err := s.needs(ctx, l, len(specs), func(i int) (job.Needs, string, error) { return l.needsOf(&specs[i]), specs[i].At(req.From), nil })
	return specs, event.TasksAdded{Job: l.run.ID, N: len(specs), After: after, Further: needs.Further, Which: needs.Runs(), Shares: l.share(specs)}, err
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
		n.Size = rundir.InputSize(task.Below(l.Spec.Dir, t.Dir), append(slices.Clone(t.Command), t.Entry...))
	}
	return n
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
func (s *Server) closeBag(_ context.Context, id job.ID) error {
	return s.callFor(id, func() error { return s.step(step.Close{Job: id}) })
}
