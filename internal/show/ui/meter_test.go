package ui

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	if got, want := meterLine(0.25, "MR only\x1b[2J, 12 runs", 80), "["+strings.Repeat("#", 10)+strings.Repeat("-", 30)+`] MR only^[[2J, 12 runs`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := meterLine(0.25, "12 runs", 20); columns(got) > 19 {
		t.Errorf("%q is wider than 19 columns", got)
	}
	if got := meterLine(7, "", 80); !strings.Contains(got, strings.Repeat("#", 40)) || strings.Contains(got, "-") {
		t.Errorf("more than all: %q", got)
	}
	var s screen
	m := &Meter{area: newArea(&s)}
	m.Set(0.5, "half")
	m.Set(0.6, "so soon that it is not drawn")
	if got, want := s.String(), meterLine(0.5, "half", 80)+"\n"; got != want {
		t.Errorf("%q is drawn, want %q", got, want)
	}
	m.drawn = time.Time{}
	m.Set(0.7, "later")
	if got, want := s.String(), meterLine(0.7, "later", 80)+"\n"; got != want {
		t.Errorf("%q is drawn, want %q", got, want)
	}
	m.Close()
	m.Close() // does nothing
	if got := s.String(); got != "" {
		t.Errorf("%q is left", got)
	}
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
