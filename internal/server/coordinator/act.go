package coordinator

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/mapreduce"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// Kill sends a worker the order to kill an attempt. Kill, Grant, Commit and the other methods with an action as
// parameter carry out what the engine has decided (step.Perform). They run in the loop.
func (s *Server) Kill(a step.Kill) { s.send(a.Node, a) }

// Join sends a worker its share of a gang.
func (s *Server) Join(a step.Join) {
	_ = s.sendJob(a.Node, a.Attempt.Job) // if the job is too large to be sent, its first node says so
	s.send(a.Node, a)
}

// Leave has a worker end what is left of a gang.
func (s *Server) Leave(a step.Leave) { s.send(a.Node, a) }

// Grant sends an attempt the grant up to a phase.
func (s *Server) Grant(a step.Grant) { s.send(a.Node, a) }

// Commit permits an attempt to commit its output.
func (s *Server) Commit(a step.Commit) { s.send(a.Node, a) }

// Ask has an attempt ask before it puts files into place.
func (s *Server) Ask(a step.Ask) { s.send(a.Node, a) }

// Locate sends a node's worker the location of a map output.
func (s *Server) Locate(a step.Locate) {
	_ = s.sendJob(a.Node, a.Attempt.Job) // if the job is too large to be sent, no attempt of it runs there
	s.send(a.Node, a)
}

// Ends tells a node's worker when its allocation ends.
func (s *Server) Ends(a step.Ends) { s.send(a.Node, &wire.Ends{Left: a.At.Sub(s.now())}) }

// Forget lets a node's worker remove what it has of a job. If the job is resumed, it is sent again.
func (s *Server) Forget(a step.Forget) {
	if ses := s.sessions[a.Node]; ses != nil {
		delete(ses.told, a.Job)
	}
	s.send(a.Node, a)
}

// Start sends an attempt to its node, with the entry or the split of its task.
func (s *Server) Start(a step.Start) {
	l := s.jobs[a.Attempt.Job]
	m := &wire.Start{Start: a}
	switch {
	case l.Spec.Kind == job.Bag:
		if t, _ := l.Tasks.Task(l.Spec.Bag, a.Attempt.Task); t.Plain() {
			m.Entry = t.Entry
		} else { // it has values of its own
			m.Task = &t
		}
	case a.Attempt.Task < len(l.Tasks.Splits):
		m.Split = &l.Tasks.Splits[a.Attempt.Task]
	}
	err := s.sendJob(a.Node, a.Attempt.Job)
	if err == nil {
		err = s.queue(a.Node, m)
	}
	if err != nil { // the message is too large for any worker, so the job cannot run
		go s.input(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: a.Attempt, Outcome: event.Broken,
			Reason: "the task cannot be sent to its node: " + err.Error()}})
	}
}

// sendJob sends a job to a node's worker, once for each connection. Its errors are those of queue.
func (s *Server) sendJob(node job.NodeID, id job.ID) error {
	ses, l := s.sessions[node], s.jobs[id]
	if ses == nil || l == nil || ses.told[id] {
		return nil
	}
	m := &wire.Job{Spec: l.specJSON, RunDir: l.run.Dir}
	if ses.apart {
		m.Spec = l.specApart
	}
	if l.Spec.Kind == job.MapReduce {
		m.Maps, m.Reduces = len(l.Tasks.Splits), l.Spec.MapReduce.Reduces
	}
	err := s.queue(node, m)
	ses.told[id] = err == nil
	return err
}

// resendJob has a job sent again to each worker before its next attempt, as its spec may have changed.
func (s *Server) resendJob(id job.ID) {
	for _, ses := range s.sessions {
		delete(ses.told, id)
	}
}

// send queues a message for a node's worker. The message must be of a kind that is never too large.
func (s *Server) send(node job.NodeID, m wire.Message) { _ = s.queue(node, m) }

// queue queues a message for a node's worker. A worker without a session gets nothing: when it
// reconnects, the engine compares what it has with what it should have. The only error is
// wire.ErrTooLarge: the message is too large for any connection.
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
		s.log.Warn("a message cannot be sent to a worker", "node", node, "err", err)
		ses.close() // ends the session's reader, which tells the engine
		return nil
	}
	s.unflushed[ses] = struct{}{}
	return nil
}

// flushSessions sends the messages that were queued in this round.
func (s *Server) flushSessions() {
	for ses := range s.unflushed {
		if err := ses.conn.Flush(); err != nil {
			ses.close()
		}
	}
	clear(s.unflushed)
}

// Request requests an allocation from its driver, beside the loop.
func (s *Server) Request(a step.Request) {
	s.shapes[a.Alloc] = a.Request
	ok := s.backends.call(a.Request.On, func(ctx context.Context, d driver.Driver) {
		if err := d.Request(ctx, a.Alloc, a.Request); err != nil {
			s.input(step.AllocDown{Alloc: a.Alloc, Reason: err.Error(), Refuse: true})
		}
	})
	if !ok {
		delete(s.shapes, a.Alloc)
		go s.input(step.AllocDown{Alloc: a.Alloc, Reason: "no driver is called " + a.Request.On, Refuse: true})
	}
}

// Release gives an allocation back to its driver, beside the loop.
func (s *Server) Release(a step.Release) {
	shape := s.shapes[a.Alloc]
	if !shape.Elastic { // else Clear comes yet
		delete(s.shapes, a.Alloc)
	}
	s.backends.call(cmp.Or(a.On, shape.On), func(ctx context.Context, d driver.Driver) {
		if err := d.Release(ctx, a.Alloc); err != nil {
			s.log.Warn("allocation is not given back", "alloc", a.Alloc, "err", err)
		}
	})
}

// look has the driver find out whether an allocation is still there, one of whose workers has gone.
func (s *Server) look(id job.AllocID) {
	if shape := s.shapes[id]; shape.Elastic {
		s.backends.call(shape.On, func(_ context.Context, d driver.Driver) {
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
		if err := s.step(step.AllocDown{Alloc: a.ID, Reason: "the coordinator has been asked to end"}); err != nil {
			s.log.Warn("allocation stays in the journal", "alloc", a.ID, "err", err)
		}
	}
}

// Seek finds out what became of a job that another waits for and that is not in memory. One that a coordinator
// elsewhere goes on with is waited for.
func (s *Server) Seek(a step.Seek) {
	in := step.Found{Job: a.Job}
	if statedir.RunNumber(a.Job) > 0 {
		v, over := s.archived(a.Job)
		if !over && submitted(s.home.Run(a.Job)) {
			return
		}
		in.State, in.Reason = v.State, v.Reason
	}
	go s.input(in)
}

// Finalize commits the output of a MapReduce job as a whole, beside the loop.
func (s *Server) Finalize(a step.Finalize) {
	l := s.jobs[a.Job]
	go func() {
		in := step.Finalized{Job: a.Job}
		if err := mapreduce.CommitJob(l.Spec.MapReduce, a.Job, len(l.Tasks.Splits)); err != nil {
			in.Failed, in.Reason = true, err.Error()
		}
		s.input(in)
	}()
}
