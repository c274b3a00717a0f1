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
	for {
		if up, n := s.escape(); n > 0 {
			s.lines = s.lines[:max(len(s.lines)-up, 0)]
			s.rest = s.rest[n:]
			continue
		}
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		s.lines = append(s.lines, string(s.rest[:i]))
		s.rest = s.rest[i+1:]
	}
}

// escape reads "ESC [ N A ESC [ J" at the head of what is left: N lines up and clear.
func (s *screen) escape() (up, length int) {
	end := bytes.Index(s.rest, []byte("A\x1b[J"))
	if end < 0 || !bytes.HasPrefix(s.rest, []byte("\x1b[")) {
		return 0, 0
	}
	if _, err := fmt.Sscanf(string(s.rest[2:end]), "%d", &up); err != nil {
		return 0, 0
	}
	return up, end + len("A\x1b[J")
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(s.lines, string(s.rest)), "\n")
}

// TestScreen: the test's terminal itself goes up where it is told.
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
}
