package batch

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// TestLeftOpen: a command that leaves a process which keeps its output open ends when it ends itself, with all that it has written, and has not
// failed for that. The process is not waited for: it waits for a pipe that the test holds.
func TestLeftOpen(t *testing.T) {
	dir := t.TempDir()
	held := filepath.Join(dir, "held")
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(held, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close() }() // the processes read its end then
	script := filepath.Join(dir, "qconf")
	text := "#!/bin/sh\nexec 3<" + held + "; { read x <&3; echo late; } &\n" + `i=0; while [ $i -lt 9999 ]; do echo line $i; i=$((i+1)); done; echo why >&2; exit "$1"` + "\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	tools := Tools{Path: dir, Patience: time.Hour, Env: os.Environ(), Classify: func(_, said string, _ int) error { return errors.Join(refused, errors.New(said)) }}
	for status := range 2 {
		out, said, err := tools.Run(t.Context(), Call{Name: "qconf", Args: []string{strconv.Itoa(status)}, Env: tools.Env})
		if strings.Count(out, "\n") != 9999 || !strings.HasSuffix(out, "line 9998\n") || said != "why\n" {
			t.Errorf("%d bytes, %q", len(out), said)
		}
		if failed := errors.Is(err, refused); failed != (status == 1) || err != nil && !failed {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
