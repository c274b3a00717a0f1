package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
