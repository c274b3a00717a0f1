package ui

import (
	"cmp"

	"berth/internal/core/event"
	"berth/internal/server/report"
)

// terminal draws bars that are replaced by each view; lines of text are written above them.
type terminal struct {
	area  *area
	width int // of tests; 0: the terminal's
	color color
	news  news
	begun bool
	view  report.JobView
}

func (t *terminal) Begin(v report.JobView) {
	lines := []string{}
	if !t.begun {
		t.begun, t.news.notes, lines = true, v.Notes, opening(v, t.color)
	}
	t.view = v
	t.write(append(lines, t.news.lines(v, t.color)...))
}

// columns returns the present width.
func (t *terminal) columns() int { return cmp.Or(t.width, widthOf(t.area.out), plainWidth) }

// write writes lines above the bars, and draws these once they are shown.
func (t *terminal) write(lines []string) {
	var bars []string
	if t.begun {
		bars = frame(t.view, t.columns(), t.color)
	}
	t.area.draw(wrapLines(lines, t.columns()), bars)
}

func (t *terminal) Update(v report.JobView) {
	t.view = v
	t.write(t.news.lines(v, t.color))
}

func (t *terminal) Note(text string) { t.write([]string{clean(text)}) }

func (t *terminal) End(v report.JobView) {
	t.Update(v)
	t.Close()
	lines := Summary(v)
	switch v.State {
	case event.StateDone:
		lines[0] = t.color.green(lines[0])
	case event.StateFailed, event.StateCancelled:
		lines[0] = t.color.red(lines[0])
	}
	t.write(lines)
}

// Close leaves the bars as they are.
func (t *terminal) Close() { t.begun, t.area.drawn = false, 0 }
