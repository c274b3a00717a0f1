package ui

import (
	"strings"

	"berth/internal/core/event"
	"berth/internal/server/report"
)

// Bounds of a bar, in columns.
const (
	minBar = 8
	maxBar = 40
	// leastWrap is the least width at which text is wrapped.
	leastWrap = 20
)

// frame returns the lines that are redrawn while a job runs: a bar for each stage, a line on the whole job and, on a
// batch system, one on its nodes. No line is wider than width columns. Where there is too little room, columns are
// left out: first the running tasks, then the rate, then the bar.
func frame(v report.JobView, width int, c color) []string {
	width-- // some terminals wrap when the last column is written
	all := stages(v)
	lines := make([]string, 0, len(all)+1)
	cols := layout(all, width)
	for _, s := range all {
		lines = append(lines, cols.line(s, width, c))
	}
	if event.State(v.State).Final() && len(lines) > 0 {
		return lines // the closing summary follows
	}
	lines = append(lines, fit(wholeLine(v), width))
	if width < leastWrap {
		return lines
	}
	return append(lines, wrap(queueLine(v), width)...)
}

// widths is the widths of the columns of the bars; a column of width 0 is left out.
type widths struct{ name, bar, count, load, rate, expect int }

func layout(all []stage, width int) widths {
	var w widths
	for _, s := range all {
		w.name = max(w.name, columns(s.name))
		w.count = max(w.count, columns(s.count()))
		w.load = max(w.load, columns(s.load()))
		w.rate = max(w.rate, columns(s.rate))
		w.expect = max(w.expect, columns(s.expect()))
	}
	for _, drop := range []*int{nil, &w.load, &w.rate} {
		if drop != nil {
			*drop = 0
		}
		if w.bar = min(width-w.text()-len(" []"), maxBar); w.bar >= minBar {
			return w
		}
	}
	w.bar = 0
	return w
}

// text returns the width of all columns except the bar.
func (w widths) text() int {
	n := w.name
	for _, col := range []int{w.count, w.load, w.rate, w.expect} {
		if col > 0 {
			n += len("  ") + col
		}
	}
	return n
}

func (w widths) line(s stage, width int, c color) string {
	cells := []string{pad(s.name, w.name)}
	if w.bar > 0 {
		cells[0] += " [" + bar(s, w.bar) + "]"
	}
	add := func(text string, width int, left bool) {
		switch {
		case width == 0:
		case left:
			cells = append(cells, padLeft(text, width))
		default:
			cells = append(cells, pad(text, width))
		}
	}
	add(s.count(), w.count, true)
	add(s.load(), w.load, false)
	add(s.rate, w.rate, true)
	add(s.expect(), w.expect, false)
	line := fit(strings.TrimRight(strings.Join(cells, "  "), " "), width)
	switch {
	case s.failed > 0:
		return c.red(line)
	case s.over():
		return c.green(line)
	case !s.begun():
		return c.dim(line)
	}
	return line
}

// bar draws the progress of a stage: finished tasks as #, the done part of running tasks as =.
func bar(s stage, width int) string {
	done := 0
	if s.total > 0 {
		done = min(s.done, s.total) * width / s.total
	}
	some := min(max(int(s.progress*float64(width)), done), width)
	if s.over() && s.failed == 0 {
		done, some = width, width
	}
	return strings.Repeat("#", done) + strings.Repeat("=", some-done) + strings.Repeat("-", width-some)
}
