package ui

import (
	"io"
	"strings"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"berth/internal/core/event"
	"berth/internal/server/report"
)

// terminal draws bars that are refreshed in place; lines of text are written above them. One mpb bar draws all lines,
// so that they have a common layout and their number may change.
type terminal struct {
	out   io.Writer
	width int
	color color
	news  news

	front *foregroundWriter // to out
	draw  *mpb.Progress
	bar   *mpb.Bar

	mu   sync.Mutex // the drawing goroutine reads the view
	view report.JobView
}

func (t *terminal) Begin(v report.JobView) {
	if t.bar != nil {
		t.Update(v)
		return
	}
	t.view, t.news.notes = v, v.Notes
	_, _ = io.WriteString(t.out, join(wrapLines(append(opening(v, t.color), t.news.lines(v, t.color)...), t.columns())))
	// Without the option a writer that is no file would never be drawn to.
	t.draw = mpb.New(mpb.WithOutput(t.front), mpb.WithWidth(unbounded), mpb.WithAutoRefresh())
	first := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		_, err := io.WriteString(w, t.lines()[0])
		return err
	})
	rest := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		_, err := io.WriteString(w, join(t.lines()[1:]))
		return err
	})
	t.bar = t.draw.MustAdd(1, first, mpb.BarFillerTrim(), mpb.BarExtender(rest, false))
}

// columns returns the present width.
func (t *terminal) columns() int {
	if t.width > 0 {
		return t.width
	}
	return t.front.width(plainWidth)
}

// lines returns the lines of the frame.
func (t *terminal) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return frame(t.view, t.columns(), t.color)
}

// join ends each line with a newline.
func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// above writes lines above the bars, or in their place before and after they are drawn.
func (t *terminal) above(lines []string) {
	if len(lines) == 0 {
		return
	}
	lines = wrapLines(lines, t.columns())
	if t.draw != nil && t.front.behind(join(lines)) {
		return
	}
	if t.draw != nil {
		// What the user typed, ^C for one, has moved the cursor from the first column.
		if _, err := t.draw.Write([]byte("\r" + join(lines))); err == nil {
			return
		}
	}
	_, _ = io.WriteString(t.out, join(lines))
}

func (t *terminal) Update(v report.JobView) {
	t.mu.Lock()
	t.view = v
	t.mu.Unlock()
	t.above(t.news.lines(v, t.color))
}

func (t *terminal) Failure(f report.Failure) {
	if t.news.fresh(f) {
		t.above(t.news.failureLines(f, t.color))
	}
}

func (t *terminal) Note(text string) { t.above([]string{clean(text)}) }

func (t *terminal) End(v report.JobView) {
	t.Update(v)
	t.Close()
	lines := Summary(v)
	switch event.State(v.State) {
	case event.StateDone:
		lines[0] = t.color.green(lines[0])
	case event.StateFailed, event.StateCancelled:
		lines[0] = t.color.red(lines[0])
	}
	_, _ = io.WriteString(t.out, join(wrapLines(lines, t.columns())))
}

func (t *terminal) Close() {
	if t.bar == nil {
		return
	}
	t.bar.Abort(false)
	t.draw.Wait()
	t.bar, t.draw = nil, nil
}
