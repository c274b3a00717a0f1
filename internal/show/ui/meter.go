package ui

import (
	"cmp"
	"os"
	"strings"
	"sync"
	"time"
)

// Meter shows the progress of a long action that is no job, on a terminal only: a bar and a line of text. Its methods
// may be called from any goroutine.
type Meter struct {
	mu    sync.Mutex
	area  *area // nil: nothing is shown
	drawn time.Time
}

// NewMeter returns a meter on a file, as a rule standard error. It shows nothing where the file is no terminal or the
// result is requested as JSON.
func NewMeter(f *os.File, json bool, getenv func(string) string) *Meter {
	m := &Meter{}
	if Detect(f, json, getenv).Mode == Terminal {
		m.area = newArea(f)
	}
	return m
}

// meterEvery is the shortest time between two drawings.
const meterEvery = 150 * time.Millisecond

// meterLine returns the drawn line at a width.
func meterLine(share float64, text string, width int) string {
	done := int(min(max(share, 0), 1) * maxBar)
	return fit("["+strings.Repeat("#", done)+strings.Repeat("-", maxBar-done)+"] "+clean(text), width-1)
}

// Set sets the finished fraction and the current step.
func (m *Meter) Set(share float64, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.area != nil && time.Since(m.drawn) >= meterEvery {
		m.drawn = time.Now()
		m.area.draw(nil, []string{meterLine(share, text, cmp.Or(widthOf(m.area.out), plainWidth))})
	}
}

// Close removes the meter from the terminal.
func (m *Meter) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.area != nil {
		m.area.draw(nil, nil)
		m.area = nil
	}
}
