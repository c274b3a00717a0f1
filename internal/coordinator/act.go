package coordinator

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/driver"
	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/mapreduce"
	"berth/internal/step"
	"berth/internal/wire"
)

// Kill, Grant and Commit, and the other methods that take an action, are how the coordinator carries out what the
// engine has decided (engine.Perform). They run in the loop.
func (s *Server) Kill(a step.Kill) {
	s.send(a.Node, &wire.Kill{Attempt: a.Attempt, Reason: a.Reason})
}

// Grant sends an attempt the grant of a phase.
func (s *Server) Grant(a step.Grant) {
	s.send(a.Node, &wire.Grant{Attempt: a.Attempt, Phase: a.Phase, Grant: a.Grant})
}

// Commit lets an attempt put its output into place.
func (s *Server) Commit(a step.Commit) { s.send(a.Node, &wire.Commit{Attempt: a.Attempt}) }

// Locate tells a node's worker where a map output is.
func (s *Server) Locate(a step.Locate) {
	_ = s.tellJob(a.Node, a.Attempt.Job) // if it cannot be told, no attempt of the job runs there
	s.send(a.Node, &wire.Locate{Map: a.Attempt, Holder: a.Holder, Addr: a.Addr, Outputs: a.Outputs})
}

// Forget lets a node's worker drop what it has of a job. If that is resumed it has to be
// told of it anew.
func (s *Server) Forget(a step.Forget) {
	if ses := s.sessions[a.Node]; ses != nil {
		delete(ses.told, a.Job)
	}
	s.send(a.Node, &wire.Forget{Job: a.Job})
}

// Start sends an attempt to its node with what sets its task apart.
func (s *Server) Start(a step.Start) {
	l := s.jobs[a.Attempt.Job]
	m := &wire.Start{Attempt: a.Attempt, Through: a.Through, Commit: a.Commit, Expected: a.Expected, Grant: a.Grant}
	switch {
	case l.Spec.Kind == job.Bag:
		m.Entry = l.Tasks.Entries[a.Attempt.Task]
	case a.Attempt.Task < len(l.Tasks.Splits):
		m.Split = &l.Tasks.Splits[a.Attempt.Task]
	}
	err := s.tellJob(a.Node, a.Attempt.Job)
	if err == nil {
		err = s.queue(a.Node, m)
	}
	if err != nil { // no worker can be told, so the job cannot run
		go s.input(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: a.Attempt, Outcome: event.Broken,
			Reason: "its node cannot be told what to do: " + err.Error()}})
	}
}

// tellJob tells a node's worker about a job, once a connection. Its errors are those of queue.
func (s *Server) tellJob(node job.NodeID, id job.ID) error {
	ses, l := s.sessions[node], s.jobs[id]
	if ses == nil || l == nil || ses.told[id] {
		return nil
	}
	m := &wire.Job{Spec: l.specJSON, RunDir: l.run.Dir}
	if ses.apart && l.Spec.Kind == job.Bag {
		m.Spec = l.specApart
	}
	if l.Spec.Kind == job.MapReduce {
		m.Maps, m.Reduces = len(l.Tasks.Splits), l.Spec.MapReduce.Reduces
	}
	err := s.queue(node, m)
	ses.told[id] = err == nil
	return err
}

// untell has every worker told of a job anew before the next attempt, as its spec may have changed.
func (s *Server) untell(id job.ID) {
	for _, ses := range s.sessions {
		delete(ses.told, id)
	}
}

// send queues a message that is never too large for a node's worker.
func (s *Server) send(node job.NodeID, m wire.Message) { _ = s.queue(node, m) }

// queue queues a message for a node's worker. One without a session gets nothing:
// when it is back, the engine reconciles what it has with what it should have. An error
// says that the message is too large for any connection, wire.ErrTooLarge.
func (s *Server) queue(node job.NodeID, m wire.Message) error {
	ses := s.sessions[node]
	if ses == nil {
		return nil
	}
	err := ses.conn.Queue(m)
	switch {
	case errors.Is(err, wire.ErrTooLarge):
		s.log.Error("message is too large for a worker", "node", node, "err", err)
		return err
	case err != nil:
		s.log.Warn("worker cannot be told", "node", node, "err", err)
		ses.close() // its reader ends, and tells the engine
		return nil
	}
	s.unflushed[ses] = struct{}{}
	return nil
}

// flushSessions sends out what was queued in this round.
func (s *Server) flushSessions() {
	for ses := range s.unflushed {
		if err := ses.conn.Flush(); err != nil {
			ses.close()
		}
	}
	clear(s.unflushed)
}

// acknowledge tells the worker that the end of its attempt is in the journal.
func (s *Server) acknowledge(at job.Attempt) {
	if ses := s.awaits[at]; ses != nil {
		delete(s.awaits, at)
		s.send(ses.node, &wire.EndedAck{Attempt: at})
	}
}

// Request asks the allocation's driver for it, beside the loop.
func (s *Server) Request(a step.Request) {
	s.shapes[a.Alloc] = a.Request
	ok := s.places.call(a.Request.On, func(ctx context.Context, d driver.Driver) {
		if err := d.Request(ctx, a.Alloc, a.Request); err != nil {
			s.input(step.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
		}
	})
	if !ok {
		delete(s.shapes, a.Alloc)
		go s.input(step.AllocDown{Alloc: a.Alloc, Reason: "no driver is called " + a.Request.On, Refuse: true})
	}
}

// Release gives an allocation back, beside the loop.
func (s *Server) Release(a step.Release) {
	shape := s.shapes[a.Alloc]
	if !shape.Elastic { // else Clear comes yet
		delete(s.shapes, a.Alloc)
	}
	s.places.call(cmp.Or(a.On, shape.On), func(ctx context.Context, d driver.Driver) {
		if err := d.Release(ctx, a.Alloc); err != nil {
			s.log.Warn("allocation is not given back", "alloc", a.Alloc, "err", err)
		}
	})
}

// look has the driver find out whether an allocation is still there, one of whose workers has gone.
func (s *Server) look(id job.AllocID) {
	if shape := s.shapes[id]; shape.Elastic {
		s.places.call(shape.On, func(_ context.Context, d driver.Driver) {
			if w, ok := d.(driver.Batch); ok {
				w.Look(id)
			}
		})
	}
}

// giveBack ends all allocations, before a coordinator without jobs ends.
func (s *Server) giveBack() {
	for _, a := range s.engine.Allocs() {
		s.Release(step.Release{Alloc: a.ID})
		if err := s.step(step.AllocDown{Alloc: a.ID, Reason: "the coordinator was told to end"}); err != nil {
			s.log.Warn("allocation stays in the journal", "alloc", a.ID, "err", err)
		}
	}
}

// Seek finds out what became of a job that another waits for and that is not in memory. One that a coordinator
// elsewhere goes on with is waited for.
func (s *Server) Seek(a step.Seek) {
	in := step.Found{Job: a.Job}
	if home.RunNumber(a.Job) > 0 {
		r := s.home.Run(a.Job)
		v, over := archived(r)
		if !over && unfinished(r) {
			return
		}
		in.State, in.Reason = event.State(v.State), v.Reason
	}
	go s.input(in)
}

// Finalize commits the output of a MapReduce job as a whole, beside the loop.
func (s *Server) Finalize(a step.Finalize) {
	l := s.jobs[a.Job]
	go func() {
		in := step.Finalized{Job: a.Job}
		if err := mapreduce.CommitJob(l.Spec.MapReduce, len(l.Tasks.Splits)); err != nil {
			in.Failed, in.Reason = true, err.Error()
		}
		s.input(in)
	}()
}
