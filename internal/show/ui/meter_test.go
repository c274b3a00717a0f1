package ui

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMeter(t *testing.T) {
	var out bytes.Buffer
	m := &Meter{}
	m.begin(&out, 80)
	m.Set(0.25, "MR only\x1b[2J, 12 runs")
	if got, want := m.line(80), "["+strings.Repeat("#", 10)+strings.Repeat("-", 30)+`] MR only^[[2J, 12 runs`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := m.line(20); columns(got) > 19 {
		t.Errorf("%q is wider than 19 columns", got)
	}
	m.Set(7, "")
	if got := m.line(80); !strings.Contains(got, strings.Repeat("#", 40)) || strings.Contains(got, "-") {
		t.Errorf("more than all: %q", got)
	}
	m.Close()
	m.Close() // does nothing
}

// TestMeterIsQuiet: where no terminal is, nothing is written.
func TestMeterIsQuiet(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	m := NewMeter(f, false, func(string) string { return "xterm" })
	m.Set(0.5, "half")
	m.Close()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}
