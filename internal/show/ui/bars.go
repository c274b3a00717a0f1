package ui

import (
	"strings"

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
	lines := bars(stages(v), width, c)
	if v.State.Final() && len(lines) > 0 {
		return lines // the closing summary follows
	}
	lines = append(lines, fit(wholeLine(v), width))
	if width < leastWrap {
		return lines
	}
	return append(lines, wrap(queueLine(v), width)...)
}

// bars returns the lines of the stages.
func bars(all []stage, width int, c color) (lines []string) {
	const load, rate = 2, 3
	t, name := newTable("", ">", "", ">", ""), 0
	for _, s := range all {
		t.add(s.Phase, s.count(), s.load(), s.rate, s.expect())
		name = max(name, columns(s.Phase))
	}
	room := func() int {
		_, wide := t.lines()
		return min(width-wide-len(" []"), maxBar)
	}
	for _, column := range []int{load, rate} {
		if room() < minBar {
			t.empty(column)
		}
	}
	if wide := room(); wide >= minBar {
		for i, s := range all {
			t.rows[i][0] = pad(s.Phase, name) + " [" + bar(s, wide) + "]"
		}
	}
	rows, _ := t.lines()
	for i, s := range all {
		line := fit(rows[i+1], width)
		switch {
		case s.Failed > 0:
			line = c.red(line)
		case s.over():
			line = c.green(line)
		case !s.begun():
			line = c.dim(line)
		}
		lines = append(lines, line)
	}
	return lines
}

// bar draws the progress of a stage: finished tasks as #, the done part of running tasks as =.
func bar(s stage, width int) string {
	done := 0
	if s.Total > 0 {
		done = min(s.Done, s.Total) * width / s.Total
	}
	some := min(max(int(s.Progress*float64(width)), done), width)
	if s.over() && s.Failed == 0 {
		done, some = width, width
	}
	return strings.Repeat("#", done) + strings.Repeat("=", some-done) + strings.Repeat("-", width-some)
}
