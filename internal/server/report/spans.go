package report

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Spans is who ran what when: the attempts of a job by node. It keeps some hundred bytes for each attempt.
type Spans struct {
	Began job.Time // when the first attempt began; 0: there was none
	Count int
	Nodes map[job.NodeID]*NodeSpans
}

// NodeSpans is the attempts of a node.
type NodeSpans struct {
	ID    job.NodeID
	Lanes []bool // which are taken now
	Spans []*Span
}

// Span is an attempt, from its start to its end. An attempt that was lost and came back has a second one.
type Span struct {
	Task, N   int32
	Lane      int32 // of its node: the lowest that was free when it began
	Outcome   event.Outcome
	Duplicate bool // it began while another attempt of its task ran
	Phases    [3]job.Phase
	Starts    [3]job.Time // of the phases; of the first one the attempt's own
	End       job.Time    // 0: it runs
	Bytes     int64       // read by its phases, once it is done

	on *NodeSpans
}

// NewSpans returns the spans of no attempts.
func NewSpans() *Spans { return &Spans{Nodes: map[job.NodeID]*NodeSpans{}} }

// begin adds an attempt whose first phase is p. It returns nil, which the methods of a Span allow, if no spans are wanted.
func (s *Spans) begin(at job.Time, of *attempt, p job.Phase) *Span {
	if s == nil {
		return nil
	}
	if s.Began == 0 {
		s.Began = at
	}
	n := s.Nodes[of.node]
	if n == nil {
		n = &NodeSpans{ID: of.node}
		s.Nodes[of.node] = n
	}
	a := &Span{Task: int32(of.id.Task), N: int32(of.id.N), Lane: n.take(), Duplicate: of.duplicate, on: n}
	a.enter(p, at)
	n.Spans = append(n.Spans, a)
	s.Count++
	return a
}

// take returns the lowest lane of the node that is free, and takes it.
func (n *NodeSpans) take() int32 {
	i := slices.Index(n.Lanes, false)
	if i < 0 {
		i, n.Lanes = len(n.Lanes), append(n.Lanes, false)
	}
	n.Lanes[i] = true
	return int32(i)
}

// enter notes that a phase began. The first one begins with its attempt.
func (s *Span) enter(p job.Phase, at job.Time) {
	if s == nil {
		return
	}
	for i := range s.Phases {
		switch s.Phases[i] {
		case p:
			if i > 0 {
				s.Starts[i] = at
			}
			return
		case job.PhaseNone:
			s.Phases[i], s.Starts[i] = p, at
			return
		}
	}
}

// end notes how the attempt ended. Measurements know the times of phases better than the records of their beginnings.
func (s *Span) end(at job.Time, o event.Outcome, stats []job.PhaseStat) {
	if s == nil {
		return
	}
	s.on.Lanes[s.Lane] = false
	s.End, s.Outcome = at, o
	for _, p := range stats {
		s.enter(p.Phase, p.Start)
		if o == event.Done {
			s.Bytes += p.BytesIn
		}
	}
}
