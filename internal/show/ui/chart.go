package ui

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
)

// Bounds of the chart, in characters.
const (
	maxRows = 10
	minCols = 12
	maxCols = 100
)

// Kinds of a cell; above them the letters of chosen allocations.
const (
	cellBusy = iota
	cellFree
)

// chart is the queue drawn as nodes over time. Like the timeline it shows how many nodes are free, not which: free
// nodes are at the bottom, used ones on top, and the chosen allocations stand on the ground, each with its letter: a
// capital for as long as the job is expected to run, a small one for the rest of the wall time.
type chart struct {
	style Style
	nodes int
	rows  int
	cols  int      // 0: there is no room, or nothing to draw
	label int      // columns of the numbers of nodes
	span  float64  // seconds of a column
	cells [][]byte // by column, from the ground up
	marks []mark
}

func newChart(at job.Time, o plan.Outlook, style Style) *chart {
	c := &chart{style: style, nodes: o.Nodes, rows: min(maxRows, o.Nodes), label: len(strconv.Itoa(o.Nodes))}
	c.cols = min(style.Width-c.label-2, maxCols)
	if c.cols < minCols || o.Nodes <= 0 || len(o.Timeline) == 0 {
		c.cols = 0
		return c
	}
	c.span = horizon(at, o) / float64(c.cols)
	c.cells = make([][]byte, c.cols)
	for i, free := range c.freeRows(at, o) {
		c.cells[i] = make([]byte, c.rows)
		for r := range free {
			c.cells[i][r] = cellFree
		}
	}
	names, done := letters(o.Slots), done(o)
	for i, s := range o.Slots {
		if s.Chosen {
			c.mark(s, names[i], done)
		}
	}
	return c
}

// horizon returns how many seconds the chart shows: 1.5 times the expected time until the end of the chosen run.
// Without a prediction it is the known part of the queue and the start of the choice, at most 1.5 times the end of
// the requested wall time.
func horizon(at job.Time, o plan.Outlook) float64 {
	const least, most = 60, 10 * 365 * 24 * 3600
	last := 0.0
	for _, s := range o.Timeline {
		if d := s.Start.Sub(at).Seconds(); d > last {
			last = d
		}
	}
	known, asked := 1.2*last, 0.0
	for _, s := range o.Slots {
		if s.Chosen {
			known, asked = max(known, 1.5*s.Wait), max(asked, 1.5*(s.Wait+s.Time.Seconds()))
		}
	}
	if asked > 0 {
		known = min(known, asked)
	}
	if d := done(o); d > 0 {
		known = 1.5 * d
	}
	if math.IsNaN(known) {
		return least
	}
	return min(max(known, least), most)
}

// freeRows returns how many rows are free in each column, by the number of free nodes in the middle of its time. A
// row stays visible for a single free or used node.
func (c *chart) freeRows(at job.Time, o plan.Outlook) []int {
	rows := make([]int, c.cols)
	step := 0
	for i := range rows {
		middle := (float64(i) + 0.5) * c.span
		for step+1 < len(o.Timeline) && o.Timeline[step+1].Start.Sub(at).Seconds() <= middle {
			step++
		}
		free := min(max(o.Timeline[step].Free, 0), c.nodes)
		rows[i] = int(math.Round(float64(free) * float64(c.rows) / float64(c.nodes)))
		if free > 0 {
			rows[i] = max(rows[i], 1)
		}
		if free < c.nodes {
			rows[i] = min(rows[i], c.rows-1)
		}
	}
	return rows
}

// mark draws a chosen allocation above those that are there at the same time; done is
// when the job is expected to be over, 0: unknown.
func (c *chart) mark(s plan.Candidate, letter byte, done float64) {
	begin, end := max(s.Wait, 0), math.Inf(1)
	if s.Time > 0 {
		end = begin + s.Time.Seconds()
	}
	first := int(min(begin/c.span, float64(c.cols)))
	last := int(min(math.Ceil(end/c.span), float64(c.cols)))
	if !(begin/c.span < float64(c.cols)) {
		return // outside the chart
	}
	last = max(last, first+1)
	height := max(int(math.Round(float64(s.Take)*float64(c.rows)/float64(c.nodes))), 1)
	base := c.base(first, last, height)
	top := min(base+height, c.rows)
	c.marks = append(c.marks, mark{first, last, base, top})
	for i := first; i < last; i++ {
		shown := letter
		if middle := (float64(i) + 0.5) * c.span; done > 0 && i > first && middle > done {
			shown += 'a' - 'A'
		}
		for r := base; r < top; r++ {
			c.cells[i][r] = shown
		}
	}
}

// mark is a chosen allocation as it was drawn: its columns and the rows between base and top.
type mark struct{ first, last, base, top int }

// base returns the lowest row on which an allocation of some columns and rows can stand. Two allocations that share a
// single column follow each other in time, unless both begin in it.
func (c *chart) base(first, last, height int) int {
	base := 0
	for moved := true; moved; {
		moved = false
		for _, m := range c.marks {
			beside := min(m.last, last)-max(m.first, first) <= 1 && m.first != first
			if !beside && base < m.top && m.base < base+height {
				base, moved = m.top, true
			}
		}
	}
	return min(base, c.rows-1)
}

// lines draws the chart.
func (c *chart) lines() []string {
	if c.cols == 0 {
		return nil
	}
	var lines []string
	ch := c.style.characters()
	for r := c.rows - 1; r >= 0; r-- {
		upTo := int(math.Ceil(float64(r+1) * float64(c.nodes) / float64(c.rows)))
		lines = append(lines, padLeft(strconv.Itoa(upTo), c.label)+" "+ch.side+c.row(r))
	}
	axis, names := c.axis(ch.flat, ch.tick)
	indent := strings.Repeat(" ", c.label+1)
	lines = append(lines, indent+ch.corner+axis, strings.TrimRight(indent+" "+names, " "))
	for _, l := range wrap(c.legend(), c.style.Width-len(indent)-1) {
		lines = append(lines, indent+" "+l)
	}
	return lines
}

// axis draws the axis of time and, to stand below it, its labels.
func (c *chart) axis(flat, tick string) (line, labels string) {
	axis, names := slices.Repeat([]string{flat}, c.cols), bytes.Repeat([]byte(" "), c.cols)
	for i, name := range c.ticks() {
		if axis[i] = tick; i+len(name) <= c.cols {
			copy(names[i:], name)
		}
	}
	return strings.Join(axis, ""), string(names)
}

func (c *chart) legend() string {
	ch := c.style.characters()
	text := ch.free + " free, " + ch.busy + " taken"
	if len(c.marks) > 0 {
		text += ", letters: chosen below (small: wall time beyond the expected run)"
	}
	return text
}

// row draws a row, cells of one kind together in its colour.
func (c *chart) row(r int) string {
	paint, ch := color(c.style.Color), c.style.characters()
	var b strings.Builder
	for i := 0; i < c.cols; {
		kind, n := c.cells[i][r], 0
		for i < c.cols && c.cells[i][r] == kind {
			i, n = i+1, n+1
		}
		switch kind {
		case cellBusy:
			b.WriteString(paint.dim(strings.Repeat(ch.busy, n)))
		case cellFree:
			b.WriteString(strings.Repeat(ch.free, n))
		default:
			b.WriteString(paint.green(strings.Repeat(string(kind), n)))
		}
	}
	return b.String()
}

// tickSpans are the distances of labels on the axis of time.
const tickSpans = "1s 2s 5s 10s 15s 30s 1m 2m 5m 10m 15m 30m 1h 2h 3h 6h 12h 24h 48h 168h 672h 2184h 8736h"

// ticks returns the labels of the time axis by column, at least ten columns apart.
func (c *chart) ticks() map[int]string {
	const apart = 10
	names := map[int]string{0: "now"}
	for _, text := range strings.Fields(tickSpans) {
		d, _ := time.ParseDuration(text) // one of a fixed list
		every := d.Seconds()
		if every < apart*c.span {
			continue
		}
		for t := every; int(t/c.span) < c.cols; t += every {
			names[int(t/c.span)] = "+" + rough(t)
		}
		break
	}
	return names
}
