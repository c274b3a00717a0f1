package ui

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Meter shows the progress of a long action that is no job, on a terminal only: a bar and a line of text. Its methods
// may be called from any goroutine.
type Meter struct {
	draw *mpb.Progress // nil: nothing is shown
	bar  *mpb.Bar

	mu    sync.Mutex
	share float64
	text  string
}

// NewMeter returns a meter on a file, as a rule standard error. It shows nothing where the file is no terminal or the
// result is requested as JSON.
func NewMeter(f *os.File, json bool, getenv func(string) string) *Meter {
	m := &Meter{}
	if Detect(f, json, getenv).Mode == Terminal {
		m.begin(f, 0)
	}
	return m
}

func (m *Meter) begin(w io.Writer, width int) {
	front := newForegroundWriter(w)
	m.draw = mpb.New(mpb.WithOutput(front), mpb.WithWidth(unbounded), mpb.WithAutoRefresh())
	fill := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		columns := width
		if columns == 0 {
			columns = front.width(plainWidth)
		}
		_, err := io.WriteString(w, m.line(columns))
		return err
	})
	m.bar = m.draw.MustAdd(1, fill, mpb.BarFillerTrim(), mpb.BarRemoveOnComplete())
}

// line returns the drawn line at that width.
func (m *Meter) line(width int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := int(min(max(m.share, 0), 1) * maxBar)
	return fit("["+strings.Repeat("#", done)+strings.Repeat("-", maxBar-done)+"] "+m.text, width-1)
}

// Set sets the finished fraction and the current step.
func (m *Meter) Set(share float64, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.share, m.text = share, clean(text)
}

// Close removes the meter from the terminal.
func (m *Meter) Close() {
	if m.draw == nil {
		return
	}
	m.bar.Abort(true)
	m.draw.Wait()
	m.draw = nil
}
