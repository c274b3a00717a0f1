package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCapped: a log and the one before it never hold more than they may, the newest lines are
// in the log, and what is written to the descriptor itself, as by a panic, is too.
func TestCapped(t *testing.T) {
	const limit = 100
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := open(f, limit)
	for i := range 100 {
		line := fmt.Sprintf("line %d\n", i)
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(path)
		if err != nil || len(now) > limit || !strings.HasSuffix(string(now), line) {
			t.Fatalf("after line %d the log is %q (%v)", i, now, err)
		}
		older, _ := os.ReadFile(path + Older)
		if both := string(older) + string(now); len(older) > limit || i < 12 && !strings.HasPrefix(both, "line 0\n") {
			t.Fatalf("after line %d there is %q", i, both)
		}
	}
	if _, err := f.WriteString("panic\n"); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); !strings.HasSuffix(string(now), "line 99\npanic\n") {
		t.Errorf("the log is %q", now)
	}
	again := open(f, limit).(*capped) // a later process appends to it
	if info, _ := f.Stat(); again.size != info.Size() {
		t.Errorf("%d bytes, want %d", again.size, info.Size())
	}
}

// TestNotCapped: what is no file of ours to replace is written to as it is.
func TestNotCapped(t *testing.T) {
	dir := t.TempDir()
	plain, err := os.Create(filepath.Join(dir, "plain")) // not appended to: a user's redirection
	if err != nil {
		t.Fatal(err)
	}
	removed, err := os.OpenFile(filepath.Join(dir, "removed"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(removed.Name()); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{plain, removed, null} {
		if w := open(f, 10); w != f {
			t.Errorf("%s is replaced when it is full", f.Name())
		}
		_ = f.Close()
	}
}

// TestStuck: where no new file can be made lines go on into the old one.
func TestStuck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := open(f, 10)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if n, err := w.Write([]byte("some line\n")); n != 10 || err != nil {
			t.Fatal(n, err)
		}
	}
}
