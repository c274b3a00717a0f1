package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStarved: each process that the kernel ends for lack of memory is told once; those of before are not.
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
		t.Error("a kill of before is told")
	}
	write("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")
	told := 0
	for s.claim() {
		told++
	}
	if told != 2 {
		t.Errorf("two kills are told as %d", told)
	}
	none := starvation{file: func() string { return "" }}
	if none.claim() {
		t.Error("a kill is told where none is counted")
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL, starved: true}); f.Signal != 9 || !strings.Contains(f.Reason, "lack of memory") {
		t.Errorf("%+v", f)
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL}); strings.Contains(f.Reason, "memory") {
		t.Errorf("%+v", f)
	}
}
