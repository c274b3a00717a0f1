package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStarved: each process that the kernel kills because memory ran out is claimed once; earlier kills are never claimed.
func TestStarved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("oom 7\noom_kill 2\n")
	s := starvation{file: func() string { return file }}
	s.begin()
	if s.claim() {
		t.Error("an earlier kill is claimed")
	}
	write("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")
	claimed := 0
	for s.claim() {
		claimed++
	}
	if claimed != 2 {
		t.Errorf("claims of two kills: %d", claimed)
	}
	none := starvation{file: func() string { return "" }}
	if none.claim() {
		t.Error("a kill is claimed although the kernel counts none")
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL, starved: true}); f.Signal != 9 || !strings.Contains(f.Reason, "lack of memory") {
		t.Errorf("%+v", f)
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL}); strings.Contains(f.Reason, "memory") {
		t.Errorf("%+v", f)
	}
}
