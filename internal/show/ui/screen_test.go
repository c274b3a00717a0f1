package ui

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// screen is as much of a terminal as the bars need: lines, and the escape sequence
// that goes up and clears what is below.
type screen struct {
	mu    sync.Mutex
	lines []string
	rest  []byte // of a sequence or line that has not ended
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	for s.upward() || s.newline() {
	}
	return len(p), nil
}

// upward obeys "ESC [ N A ESC [ J": N lines up, and clear what is right of the cursor
// and below. The column stays.
func (s *screen) upward() bool {
	begin, end := bytes.Index(s.rest, []byte("\x1b[")), bytes.Index(s.rest, []byte("A\x1b[J"))
	if begin < 0 || end < begin || bytes.IndexByte(s.rest[:begin], '\n') >= 0 {
		return false
	}
	var up int
	if _, err := fmt.Sscanf(string(s.rest[begin+2:end]), "%d", &up); err != nil {
		return false
	}
	at := max(len(s.lines)-up, 0)
	kept, column := "", begin-bytes.LastIndexByte(s.rest[:begin], '\r')-1
	if at < len(s.lines) {
		kept = s.lines[at][:min(column, len(s.lines[at]))]
	}
	s.lines, s.rest = s.lines[:at], append([]byte(kept), s.rest[end+len("A\x1b[J"):]...)
	return true
}

// newline ends a line. What follows a carriage return has been written over its beginning.
func (s *screen) newline() bool {
	text, rest, found := bytes.Cut(s.rest, []byte("\n"))
	if !found {
		return false
	}
	line := ""
	for _, part := range strings.Split(string(text), "\r") {
		line = part + line[min(len(part), len(line)):]
	}
	s.lines, s.rest = append(s.lines, line), rest
	return true
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(s.lines, string(s.rest)), "\n")
}

// TestScreen: the cursor of the test's own terminal moves up on its control sequence.
func TestScreen(t *testing.T) {
	var s screen
	for _, part := range []string{"a\nb\nc", "\n\x1b[2", "A\x1b[Jd\n"} {
		if _, err := s.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.String(); got != "a\nd\n" {
		t.Errorf("got %q", got)
	}
	if _, err := s.Write([]byte("xyz\n^C\x1b[1A\x1b[Jabc\r.\n")); err != nil {
		t.Fatal(err)
	}
	if got := s.String(); got != "a\nd\n.yabc\n" {
		t.Errorf("got %q", got)
	}
}
