package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLocalIn checks that tasks do not run in memory that nobody named.
func TestLocalIn(t *testing.T) {
	const memory = "/dev/shm"
	var st unix.Statfs_t
	if err := unix.Statfs(memory, &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		t.Skipf("%s is not in memory: %v", memory, err)
	}
	t.Setenv("TMPDIR", memory)
	for named, in := range map[string]string{"": "/var/tmp", memory: memory, "/named": "/named"} {
		if got, err := LocalIn(named); got != ScratchIn(in) || err != nil {
			t.Errorf("with %q named: %s, %v; want %s", named, got, err, ScratchIn(in))
		}
	}
}

// TestLastLine checks that the last line of a worker's log is returned, which says why the worker ended.
func TestLastLine(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if got := LastLine(log); !strings.HasPrefix(got, "its log cannot be read") {
		t.Errorf("without a log: %q", got)
	}
	for text, want := range map[string]string{"one\ntwo\n": "two", "": "its log is empty", "one\n\n": "one", strings.Repeat("x", 5000): strings.Repeat("x", maxLastLine)} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LastLine(log); got != want {
			t.Errorf("of %q: %q", text, got)
		}
	}
}
