package dashboard

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// span is an attempt as the timeline shows it.
type span struct {
	task, n   int32
	lane      int32 // of its node: the lowest that was free when it began
	outcome   event.Outcome
	duplicate bool // it began while another attempt of its task ran
	phases    [3]job.Phase
	starts    [3]job.Time // of the phases; of the first one the attempt's own
	end       job.Time    // 0: it runs
	bytes     int64       // read by its phases, once it is done
}

// nodeSpans is the attempts of a node.
type nodeSpans struct {
	id    job.NodeID
	lanes []bool // which are taken now
	spans []*span
}

// attempts is the fold of a run's records into who ran what when. It keeps some hundred bytes for each attempt.
type attempts struct {
	id    job.ID
	work  job.Work
	began job.Time // the first attempt; 0: there was none
	last  job.Time // of the last record
	count int
	nodes map[job.NodeID]*nodeSpans
	live  map[job.Attempt]running
	of    map[int]int // live attempts of a task
}

// running is an attempt that has not ended, and its node.
type running struct {
	*span
	on *nodeSpans
}

func newAttempts(id job.ID) *attempts {
	return &attempts{id: id, nodes: map[job.NodeID]*nodeSpans{}, live: map[job.Attempt]running{}, of: map[int]int{}}
}

// apply takes the next entry of the run's journal.
func (a *attempts) apply(e event.Entry) {
	if e.Record.Of() != a.id {
		return
	}
	a.last = e.At
	switch r := e.Record.(type) {
	case event.JobSubmitted:
		a.work = r.Work
	case event.AttemptStarted:
		a.start(e.At, r)
	case event.PhaseEntered:
		if s := a.live[r.Attempt].span; s != nil {
			s.enter(r.Phase, e.At)
		}
	case event.AttemptEnded:
		a.end(e.At, r)
	case event.JobEnded:
		for of := range a.live { // nobody waited for these
			a.end(e.At, event.AttemptEnded{Attempt: of, Outcome: event.Lost})
		}
	}
}

func (a *attempts) start(at job.Time, r event.AttemptStarted) {
	if a.live[r.Attempt].span != nil {
		return
	}
	if a.began == 0 {
		a.began = at
	}
	n := a.nodes[r.Node]
	if n == nil {
		n = &nodeSpans{id: r.Node}
		a.nodes[r.Node] = n
	}
	kind := a.work.Kind.TaskKind(a.work.Tasks, r.Attempt.Task)
	s := &span{task: int32(r.Attempt.Task), n: int32(r.Attempt.N), lane: n.take(), duplicate: a.of[r.Attempt.Task] > 0}
	s.enter(kind.Phases()[0], at)
	n.spans = append(n.spans, s)
	a.live[r.Attempt] = running{s, n}
	a.of[r.Attempt.Task]++
	a.count++
}

func (a *attempts) end(at job.Time, r event.AttemptEnded) {
	s := a.live[r.Attempt]
	if s.span == nil {
		return
	}
	delete(a.live, r.Attempt)
	if a.of[r.Attempt.Task]--; a.of[r.Attempt.Task] == 0 {
		delete(a.of, r.Attempt.Task)
	}
	s.on.lanes[s.lane] = false
	s.span.end, s.outcome = at, r.Outcome
	for _, p := range r.Stats { // they know the times of phases better than the records of their beginnings
		s.enter(p.Phase, p.Start)
		if r.Outcome == event.Done {
			s.bytes += p.BytesIn
		}
	}
}

// take returns the lowest lane of the node that is free, and takes it.
func (n *nodeSpans) take() int32 {
	for i, taken := range n.lanes {
		if !taken {
			n.lanes[i] = true
			return int32(i)
		}
	}
	n.lanes = append(n.lanes, true)
	return int32(len(n.lanes) - 1)
}

// enter notes that a phase began. The first one begins with its attempt.
func (s *span) enter(p job.Phase, at job.Time) {
	for i := range s.phases {
		switch s.phases[i] {
		case p:
			if i > 0 {
				s.starts[i] = at
			}
			return
		case job.PhaseNone:
			s.phases[i], s.starts[i] = p, at
			return
		}
	}
}
