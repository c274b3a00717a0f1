package batch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFoldersOfCommands: a command of a batch system gets the user's folders for temporary files as long as they are there. The
// environment of a job may outlive the batch job from which it was submitted.
func TestFoldersOfCommands(t *testing.T) {
	there, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	file := filepath.Join(there, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tools := Tools{Path: os.Getenv("PATH"), Patience: time.Minute, Env: []string{"A=1", "TMPDIR=" + gone, "TMP=" + there, "TEMP=" + file, "HOME=" + gone}}
	out, err := tools.Output(t.Context(), "env")
	if want := "A=1\nTMP=" + there + "\nHOME=" + gone + "\n"; err != nil || out != want {
		t.Errorf("%q, %v; want %q", strings.TrimSpace(out), err, want)
	}
}
