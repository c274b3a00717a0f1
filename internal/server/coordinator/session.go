package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// heartbeat is the interval that workers keep; one that is silent for
// maxSilence is taken for lost, one that hears nothing for lease stops
// committing. lease is shorter: a worker gives up its right before the
// coordinator could give it to another.
const (
	heartbeat  = 2 * time.Second
	lease      = 4 * heartbeat
	maxSilence = 6 * heartbeat
	// nodeTimeout is how long a node that does not answer is waited for, once that is known.
	nodeTimeout = 30 * time.Second
)

// session is the connection of one worker. The loop alone uses told and retires.
type session struct {
	node    job.NodeID
	conn    *wire.Conn
	told    map[job.ID]bool // jobs that the worker knows
	apart   bool            // the worker is not told the environment of users (wire.Hello)
	near    bool            // the worker runs on this machine
	retires string          // why the worker is about to end; empty: it is not
}

func (ses *session) close() { _ = ses.conn.Close() } // it may be closed already

func (s *Server) refused(from net.Addr, err error) { s.refusals.note(s.log, from, err) }

// serve takes what a worker says until the connection ends.
func (s *Server) serve(conn *wire.Conn, hello *wire.Hello) {
	ses := &session{node: hello.Node, conn: conn, told: make(map[job.ID]bool), apart: hello.Apart, near: isNear(conn.RemoteAddr(), hello.Apart)}
	defer s.outputs.leave(ses)
	defer ses.close() // first: a question that is not ended by then cannot be sent
	s.post(func() { s.join(ses, hello) })
	err := s.receive(ses)
	s.post(func() { s.leave(ses, err) })
}

// join makes the session the node's one and tells the engine. It runs in the loop.
func (s *Server) join(ses *session, h *wire.Hello) {
	if old := s.sessions[ses.node]; old != nil {
		old.close()
	}
	s.sessions[ses.node] = ses
	s.spread.adapt(s.sessions)
	s.outputs.tell(ses) // a coordinator before this one may not have asked
	s.send(ses.node, &wire.Welcome{Heartbeat: min(heartbeat, cmp.Or(s.opts.AssessEvery, heartbeat)), Lease: lease, Now: s.now()})
	up := step.NodeUp{Running: h.Running, Held: h.Held, NodeJoined: event.NodeJoined{
		Node: ses.node, Host: h.Host, Addr: h.Addr, Capacity: h.Capacity, Outputs: h.Outputs, Type: h.Type}}
	if err := s.step(up); err != nil {
		s.log.Warn("worker is not wanted", "node", ses.node, "err", err)
		s.send(ses.node, &wire.Shutdown{Reason: err.Error()})
		return
	}
	s.log.Info("worker joined", "node", ses.node, "pid", h.PID, "running", len(h.Running), "held", len(h.Held))
}

// leave tells the engine that the node's worker does not answer, unless a later session took its place.
func (s *Server) leave(ses *session, err error) {
	if s.sessions[ses.node] != ses {
		return
	}
	delete(s.sessions, ses.node)
	s.spread.adapt(s.sessions)
	s.look(ses.node.Alloc())
	reason := "connection lost"
	switch {
	case ses.retires != "":
		reason = "its worker ended: " + ses.retires
	case err != nil && !errors.Is(err, io.EOF):
		reason += ": " + err.Error()
	}
	s.nodeDown(step.NodeDown{Node: ses.node, Reason: reason, Dead: ses.retires != ""})
}

// retire has nothing started any more on a node whose worker is about to end. What it ran
// is the node's until it has told how that ended, or has hung up.
func (s *Server) retire(ses *session, reason string) {
	if ses.retires = reason; s.sessions[ses.node] == ses {
		s.nodeDown(step.NodeDown{Node: ses.node, Reason: "its worker ends: " + reason})
	}
}

func (s *Server) nodeDown(in step.NodeDown) {
	if err := s.step(in); err != nil {
		s.log.Debug("node was not known", "node", in.Node, "err", err)
	}
}

// receive reads the messages of a worker and handles them until the connection ends.
func (s *Server) receive(ses *session) error {
	for {
		if err := ses.conn.SetReadDeadline(time.Now().Add(maxSilence)); err != nil {
			return err
		}
		m, err := ses.conn.Recv()
		if err != nil {
			return err
		}
		if err := s.handleMessage(ses, m); err != nil {
			return err
		}
	}
}

// handleMessage handles one message as an input from the session's node. A worker cannot report for another node.
func (s *Server) handleMessage(ses *session, m wire.Message) error {
	switch m := m.(type) {
	case *wire.Heartbeat:
		s.progress(ses.node, m.Progress)
		return ses.conn.Send(&wire.HeartbeatAck{})
	case *wire.Retiring:
		s.post(func() { s.retire(ses, event.Clip(m.Reason)) })
	case *wire.Synced:
		s.outputs.answer(ses, m.N, m)
	case *wire.Printed:
		s.outputs.answer(ses, m.N, m)
	case wire.Ended:
		s.post(func() { s.attemptEnded(ses, m) })
	default:
		in := step.FromWorker{Node: ses.node, Input: m}
		if _, ok := in.Subject(); !ok {
			return errors.New("a worker does not say that")
		}
		s.input(in)
	}
	return nil
}

// attemptEnded tells the engine of an attempt's end; the worker is answered once
// that is in the journal.
func (s *Server) attemptEnded(ses *session, m wire.Ended) {
	before := len(s.round.records)
	if err := s.step(step.FromWorker{Node: ses.node, Input: step.AttemptEnded{AttemptEnded: s.bounded(m.AttemptEnded)}}); err != nil {
		s.log.Warn("end of an attempt refused", "attempt", m.Attempt, "err", err)
	}
	for _, rec := range s.round.records[before:] {
		if r, ok := rec.(event.AttemptEnded); ok && r.Attempt == m.Attempt && r.Outcome.Committed() && statedir.KindOf(m.Attempt.Job) == job.Bag {
			s.outputs.tell(ses)
		}
	}
	s.round.after = append(s.round.after, func() {
		if s.sessions[ses.node] == ses { // else it says so again in the session that it has now
			s.send(ses.node, &wire.EndedAck{Attempt: m.Attempt})
		}
	})
}

// bounded returns the end of an attempt as it can be recorded: too large a record would
// end the loop, and with the worker saying it again the next coordinator's as well. A job
// whose attempts together report more counters than it may have is broken.
func (s *Server) bounded(r event.AttemptEnded) event.AttemptEnded {
	r = r.Bounded()
	l := s.jobs[r.Attempt.Job]
	if l == nil || l.Spec.Kind != job.MapReduce || r.Outcome != event.Done {
		return r
	}
	limit := l.Spec.MapReduce.CounterLimits().Counters
	n := 0
	l.with(func(j *report.Job) { n = j.CountersWith(append(s.round.counters(l.run.ID), r.Counters)...) })
	if n > limit {
		r.Outcome, r.Counters = event.Broken, nil
		r.Reason = fmt.Sprintf("the tasks of the job together reported %d counters, more than %d; count by fewer names, or allow more with -D %s=N",
			n, limit, job.CountersKey)
	}
	return r
}

// progress lets views and the engine know how far running attempts are. It runs beside the loop.
func (s *Server) progress(node job.NodeID, ps []wire.Progress) {
	of := make([]job.Progress, 0, len(ps))
	for _, p := range ps {
		if l := s.lookup(p.Attempt.Job); l != nil {
			l.with(func(j *report.Job) { j.ApplyProgress(node, p) })
		}
		of = append(of, p.Progress)
	}
	if len(of) > 0 {
		s.tell(step.Progress{Node: node, Of: of}, func(in step.Input) error {
			err := s.step(in)
			for _, p := range of { // views know when attempts are expected to end, by the engine's last look at them
				l := s.jobs[p.Attempt.Job]
				if end := s.engine.EndOf(p.Attempt); l != nil && end != 0 {
					l.with(func(j *report.Job) { j.ApplyEnd(p.Attempt, end) })
				}
			}
			return err
		})
	}
}
