package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// The limits of a scatter of attempts, however many there are: it is thinned out on a grid of so many steps of time at most.
const (
	scatterRows = 64  // of the time that an attempt took
	scatterCols = 128 // of the time when it began: maxSteps in rateSteps
	namedNodes  = 7   // nodes with a colour of their own
)

// scatterView has the attempts that began in the window as points. Of those that would lie on one another, in a step of both times, the one stands for all
// that ended worst, and of these the longest, so that stragglers and failures are always there.
type scatterView struct {
	Attempts int      `json:"attempts"` // in the window
	Nodes    []string `json:"nodes"`    // the slowest by mean time of attempts that were done, the slowest first
	// Points are texts: when the attempt began, in milliseconds since 1970, the milliseconds that it took, its marks as in the timeline, whether it was a
	// reduce, and the position of its node, that of others being the number of nodes.
	Points []string `json:"points"`
}

type point struct {
	of   *report.Span
	node job.NodeID
	took time.Duration
}

// worse orders the points of a spot: a failure is the worst.
func (p point) worse(q point) int {
	return cmp.Or(cmp.Compare(p.bad(), q.bad()), cmp.Compare(p.took, q.took), cmp.Compare(q.of.Task, p.of.Task), cmp.Compare(q.of.N, p.of.N))
}

func (p point) bad() int {
	if m := marksOf(p.of) & (markFailed | markLost | markKilled); m != 0 {
		return markDuplicate - m
	}
	return 0
}

// scatter returns the points of the window.
func scatter(a *report.Spans, w window, until job.Time) scatterView {
	w, step := w.steps(a.Began, until)
	v := scatterView{Points: []string{}}
	slowest, longest := meanTimes(a), time.Duration(0)
	v.Nodes = slowest[:min(namedNodes, len(slowest))]
	all := func(each func(point)) {
		for _, n := range a.Nodes {
			for _, s := range n.Spans {
				if !s.Further && s.Starts[0] >= w.from && s.Starts[0] < w.to {
					each(point{s, n.ID, max(cmp.Or(s.End, until), s.Starts[0]).Sub(s.Starts[0])})
				}
			}
		}
	}
	all(func(p point) { longest, v.Attempts = max(longest, p.took), v.Attempts+1 })
	high := time.Millisecond
	for longest >= scatterRows*high {
		high *= 2
	}
	grid := map[[2]int]point{}
	all(func(p point) {
		at := [2]int{int(p.of.Starts[0].Sub(w.from) / (step * rateSteps)), int(p.took / high)}
		if before, there := grid[at]; !there || p.worse(before) > 0 {
			grid[at] = p
		}
	})
	for _, p := range slices.SortedFunc(maps.Values(grid), func(p, q point) int {
		return cmp.Or(cmp.Compare(p.of.Starts[0], q.of.Starts[0]), cmp.Compare(p.of.Task, q.of.Task), cmp.Compare(p.of.N, q.of.N))
	}) {
		node, reduce := slices.Index(v.Nodes, string(p.node)), 0
		if node < 0 {
			node = len(v.Nodes)
		}
		if p.of.Phases[0] == job.PhaseShuffle {
			reduce = 1
		}
		v.Points = append(v.Points, fmt.Sprintf("%d %d %d %d %d", int64(p.of.Starts[0])/1e6, p.took.Milliseconds(), marksOf(p.of), reduce, node))
	}
	return v
}

// meanTimes returns the nodes by the mean time of their attempts that were done, the longest first.
func meanTimes(a *report.Spans) []string {
	mean := map[string]float64{}
	for _, n := range a.Nodes {
		sum, done := 0.0, 0
		for _, s := range n.Spans {
			if s.Outcome == event.Done {
				sum, done = sum+s.End.Sub(s.Starts[0]).Seconds(), done+1
			}
		}
		mean[string(n.ID)] = sum / float64(max(1, done))
	}
	return slices.SortedFunc(maps.Keys(mean), func(x, y string) int { return cmp.Or(cmp.Compare(mean[y], mean[x]), cmp.Compare(x, y)) })
}
