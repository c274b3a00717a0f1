package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// The limits of a timeline, however many tasks and nodes there are.
const (
	maxLanes = 64
	maxSteps = 512
)

// Marks of a cell.
const (
	markFailed    = 1 << iota
	markLost      // the worker or the node was lost
	markKilled    // by berth: the job was cancelled, or another attempt was first
	markDuplicate // it started while another attempt of its task ran
	markRunning   // it has not ended
)

// timelineView shows which attempts ran when and where, in steps of equal length.
type timelineView struct {
	Start    int64      `json:"start_ms"` // of the first step, milliseconds since 1970
	Step     int64      `json:"step_ms"`
	Steps    int        `json:"steps"`
	Attempts int        `json:"attempts"`
	Phases   []string   `json:"phases"` // names by number
	Lanes    []laneView `json:"lanes"`
}

// laneView is a row of the timeline: one slot of a node, or several if there are too many to show.
type laneView struct {
	Node  string `json:"node"`
	To    string `json:"to,omitempty"` // the last node, if the lane has several
	Slots int    `json:"slots"`        // largest number of attempts at the same time
	// Cells are texts, as there are many: first step, steps, phase, tenths of the time in which the slots were busy,
	// marks, attempts that began, and, if one attempt fills the cell, its number and the name of its task.
	Cells []string `json:"cells"`
}

// window is a part of the time that a job ran; a zero end is the present or the job's own end.
type window struct{ from, to job.Time }

// steps returns the window with its bounds set, and the length of its steps: a power of two in milliseconds, so that
// steps keep their positions while the window grows, and pairs of steps are merged when there are too many.
func (w window) steps(began, until job.Time) (window, time.Duration) {
	if w.from == 0 {
		w.from = began
	}
	if w.to == 0 {
		w.to = max(until, w.from+1)
	}
	step := time.Millisecond
	for w.to.Sub(w.from) > maxSteps*step {
		step *= 2
	}
	return w, step
}

// row is a lane while it is filled.
type row struct {
	view  laneView
	cells []cell
}

// cell is one step of a lane.
type cell struct {
	busy   time.Duration
	most   time.Duration // time of the phase that uses most of it
	phase  job.Phase
	marks  int
	began  int
	of     *report.Span // the attempt in it, the last one if there are several
	shared bool         // there are several
}

// timeline returns the timeline of the window. order is the order of the nodes, name returns the name of a task.
func timeline(a *report.Spans, w window, until job.Time, order []string, name func(int) string) timelineView {
	w, step := w.steps(a.Began, until)
	v := timelineView{
		Start: int64(w.from) / 1e6, Step: step.Milliseconds(), Steps: int((w.to.Sub(w.from) + step - 1) / step),
		Attempts: a.Count, Lanes: []laneView{},
	}
	for p := job.PhaseNone; p < job.NumPhases; p++ {
		v.Phases = append(v.Phases, p.String())
	}
	if a.Count == 0 {
		return v
	}
	nodes := sorted(a, order)
	fold, group := folding(nodes)
	var rows []*row
	at := make([]int, len(nodes)) // the first row of each node
	for i, n := range nodes {
		if at[i] = len(rows); i%group > 0 {
			at[i]--
			r := rows[at[i]]
			r.view.To, r.view.Slots = string(n.ID), r.view.Slots+len(n.Lanes)
			continue
		}
		for from := 0; from < len(n.Lanes); from += fold {
			rows = append(rows, &row{view: laneView{Node: string(n.ID), Slots: min(fold, len(n.Lanes)-from)}, cells: make([]cell, v.Steps)})
		}
	}
	for i, n := range nodes {
		for _, s := range n.Spans {
			end := cmp.Or(s.End, max(until, s.Starts[0]+1))
			if end > w.from && s.Starts[0] < w.to {
				rows[at[i]+int(s.Lane)/fold].add(s, end, w, step)
			}
		}
	}
	for _, r := range rows {
		r.view.Cells = r.runs(step, name)
		v.Lanes = append(v.Lanes, r.view)
	}
	return v
}

// sorted returns the nodes in that order, and those that are not in it last.
func sorted(a *report.Spans, order []string) []*report.NodeSpans {
	place := map[string]int{}
	for i, id := range order {
		place[id] = i - len(order)
	}
	return slices.SortedFunc(maps.Values(a.Nodes), func(x, y *report.NodeSpans) int {
		return cmp.Or(cmp.Compare(place[string(x.ID)], place[string(y.ID)]), cmp.Compare(x.ID, y.ID))
	})
}

// folding returns the number of slots of a node that share a lane, so that there are at most maxLanes lanes. If there
// are more nodes than lanes, group is the number of nodes that share one with all their slots.
func folding(nodes []*report.NodeSpans) (fold, group int) {
	most := 1
	for _, n := range nodes {
		most = max(most, len(n.Lanes))
	}
	if len(nodes) > maxLanes {
		return most, (len(nodes) + maxLanes - 1) / maxLanes
	}
	for fold = 1; fold < most; fold++ {
		lanes := 0
		for _, n := range nodes {
			lanes += (len(n.Lanes) + fold - 1) / fold
		}
		if lanes <= maxLanes {
			break
		}
	}
	return fold, 1
}

// add adds an attempt that is at least partly within the window.
func (r *row) add(s *report.Span, end job.Time, w window, step time.Duration) {
	place := func(at job.Time) int { return min(max(int(at.Sub(w.from)/step), 0), len(r.cells)-1) }
	if s.Starts[0] >= w.from {
		r.cells[place(s.Starts[0])].began++
	}
	for i, p := range s.Phases {
		if p == job.PhaseNone {
			break
		}
		from, to := s.Starts[i], end
		if i+1 < len(s.Phases) && s.Phases[i+1] != job.PhaseNone {
			to = s.Starts[i+1]
		}
		for k := place(from); k <= place(to-1) && to > w.from && from < w.to; k++ {
			begin := w.from.Add(time.Duration(k) * step)
			r.cells[k].take(s, p, min(to, begin.Add(step)).Sub(max(from, begin)))
		}
	}
	if r.view.Slots > 1 { // a failure is marked only in the cell in which it happened, because others share the lane
		if s.End != 0 && s.End <= w.to {
			r.cells[place(end-1)].marks |= marksOf(s)
		}
		return
	}
	for k := place(s.Starts[0]); k <= place(end-1); k++ {
		r.cells[k].marks |= marksOf(s)
	}
}

// take adds the time d in a phase of an attempt.
func (c *cell) take(s *report.Span, p job.Phase, d time.Duration) {
	d = max(d, 0)
	c.shared = c.shared || (c.of != nil && c.of != s)
	c.of = s
	c.busy += d
	if d >= c.most {
		c.most, c.phase = d, p
	}
}

// marksOf returns the marks of an attempt.
func marksOf(s *report.Span) int {
	m := 0
	switch s.Outcome {
	case event.Failed, event.Broken, event.Outgrown:
		m = markFailed
	case event.Lost:
		m = markLost
	case event.Killed:
		m = markKilled
	case event.Done, event.Requeued:
	default:
		m = markRunning
	}
	if s.Duplicate {
		m |= markDuplicate
	}
	return m
}

// runs returns the row's cells, with equal neighbours merged.
func (r *row) runs(step time.Duration, name func(int) string) []string {
	out := []string{}
	for i := 0; i < len(r.cells); {
		c, n := r.cells[i], 1
		if c.of == nil {
			i++
			continue
		}
		busy := r.tenths(c, step)
		for i+n < len(r.cells) && r.cells[i+n].continues(c) && r.tenths(r.cells[i+n], step) == busy {
			n++
		}
		text := fmt.Sprintf("%d %d %d %d %d %d", i, n, c.phase, busy, c.marks, c.began)
		if !c.shared {
			text += fmt.Sprintf(" %d %s", c.of.N, strings.ToValidUTF8(name(int(c.of.Task)), "\ufffd"))
		}
		out = append(out, text)
		i += n
	}
	return out
}

// continues reports whether a cell looks like the one before it and no attempt begins in it.
func (c cell) continues(before cell) bool {
	return c.of != nil && c.began == 0 && c.phase == before.phase && c.marks == before.marks && c.shared == before.shared &&
		(c.shared || c.of == before.of)
}

// tenths returns the fraction of its time in which a cell's slots were busy, in tenths from 1 to 10. A cell of one slot
// that only one attempt uses counts as fully busy.
func (r *row) tenths(c cell, step time.Duration) int {
	if !c.shared && r.view.Slots == 1 {
		return 10
	}
	return min(max(int(10*c.busy/(step*time.Duration(r.view.Slots))), 1), 10)
}
