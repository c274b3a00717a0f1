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
	Further   bool        // it is the part of an attempt of several ranks on a node other than the first one, where the attempt has another span

	on   *NodeSpans
	next *Span // of the attempt on its next node
}

// NewSpans returns the spans of no attempts.
func NewSpans() *Spans { return &Spans{Nodes: map[job.NodeID]*NodeSpans{}} }

// begin adds an attempt whose first phase is p, with a span on each of its nodes. It returns that on the first one, or nil, which the methods of a
// Span allow, if no spans are wanted.
func (s *Spans) begin(at job.Time, of *attempt, p job.Phase) (first *Span) {
	if s == nil {
		return nil
	}
	if s.Began == 0 {
		s.Began = at
	}
	last := &first
	for node := range of.nodes() {
		n := s.Nodes[node]
		if n == nil {
			n = &NodeSpans{ID: node}
			s.Nodes[node] = n
		}
		a := &Span{Task: int32(of.id.Task), N: int32(of.id.N), Lane: n.take(), Duplicate: of.duplicate, Further: first != nil, on: n}
		n.Spans = append(n.Spans, a)
		*last, last = a, &a.next
	}
	first.enter(p, at)
	s.Count++
	return first
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
	s.next.enter(p, at)
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
	s.next.end(at, o, stats)
	s.on.Lanes[s.Lane] = false
	s.End, s.Outcome = at, o
	for _, p := range stats {
		s.enter(p.Phase, p.Start)
		if o == event.Done {
			s.Bytes += p.BytesIn
		}
	}
}
