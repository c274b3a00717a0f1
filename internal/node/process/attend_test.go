package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/sys/probe"
)

// TestAttendLate: nothing is started for a set that was killed, as nobody may wait for it any more.
func TestAttendLate(t *testing.T) {
	lanes, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	s.Kill()
	s.AwaitAll()
	file := filepath.Join(t.TempDir(), "file")
	c := Command{Path: "/bin/sh", Args: []string{"sh", "-c", `trap "" TERM; echo > "$1"`, "sh", file}, Dir: "/", Idle: Stays}
	if _, err = s.Attend(t.Context(), lanes, nil, &c, strings.NewReader(""), io.Discard, io.Discard); FailureOf(err).Outcome != event.Killed {
		t.Errorf("the program ended with %v", err)
	}
	if _, err := os.Lstat(file); err == nil {
		t.Error("the program was started")
	}
}
